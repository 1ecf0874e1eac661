import type { LabelSet } from '../../families/label-set.ts';
import { readCounts, sumByServer, type RowsOf } from '../../listing/rows.ts';
import type { Instant } from '../../runtime/instant.ts';
import type { ListingTime } from './fall.ts';
import { isAnHourOld, type Loss } from './level-loss.ts';

/** A format with fewer viewers may have none of its bytes counted for a while. */
const LEAST_CONNECTIONS = 5;

/** A format of a server that has had viewers, and what it delivers. */
export interface DeliveryMemory {
  /** The last listing with bytes, or the first with viewers. */
  readonly flowed: Instant;
  /** What it had then. */
  readonly connections: number;
  readonly stop?: Loss | undefined;
}

export interface DeliveriesMemory {
  /** When each server last received bytes. */
  readonly received: ReadonlyMap<LabelSet, Instant>;
  /** By server and format. */
  readonly deliveries: ReadonlyMap<LabelSet, DeliveryMemory>;
}

export const NO_DELIVERIES_MEMORY: DeliveriesMemory = { received: new Map(), deliveries: new Map() };

type ListedRows = RowsOf<'accounts' | 'outputs' | 'waiting'>;

/** Takes the rows of a listing, whose counters are what was gained since the one before. */
export function followDeliveries(
  memory: DeliveriesMemory,
  rows: ListedRows,
  time: ListingTime,
  stallAfterMs: number,
): DeliveriesMemory {
  const { at } = time;
  const isSilent = (flowed: Instant): boolean => at.monotonicMs - flowed.monotonicMs >= stallAfterMs;
  const received = new Map<LabelSet, Instant>();
  const receivedMs = new Map<string, number>();
  for (const [row, labels] of rows.accounts.labelSets.entries()) {
    const isFlowing = rows.accounts.columns.inputBytes[row] !== 0;
    const flowed = (isFlowing ? undefined : memory.received.get(labels)) ?? at;
    received.set(labels, flowed);
    if (!isSilent(flowed)) receivedMs.set(labels[0] ?? '', flowed.monotonicMs);
  }
  const deliveries = new Map<LabelSet, DeliveryMemory>();
  for (const { labels, connections, isFlowing } of listDeliveries(rows)) {
    const before = memory.deliveries.get(labels);
    const isWatched = connections >= LEAST_CONNECTIONS;
    const wasStopped = before?.stop !== undefined && (isWatched || !isAnHourOld(before.stop, time));
    const wasWatched = before !== undefined && before.connections >= LEAST_CONNECTIONS;
    if (!wasWatched || isFlowing || !(isWatched || wasStopped)) {
      deliveries.set(labels, { flowed: at, connections });
      continue;
    }
    const { flowed, connections: viewers } = before;
    // The server has received data meanwhile: it has not stopped with its input. Bytes that only one listing
    // lacks may have gone with a task that has ended.
    const lastMs = receivedMs.get(labels[0] ?? '') ?? -Infinity;
    const isStopped = flowed.monotonicMs < time.beforeMs && lastMs - flowed.monotonicMs >= stallAfterMs;
    const stop = isStopped ? (before.stop ?? { before: viewers, since: flowed }) : undefined;
    deliveries.set(labels, { flowed, connections: viewers, stop });
  }
  return { received, deliveries };
}

/** Lists the metered formats of each server. */
function* listDeliveries({ outputs, waiting }: ListedRows) {
  const { labelSets, columns } = outputs;
  const isMetered = (row: number): boolean => !Number.isNaN(columns.outputsUnwatched[row]);
  const counts = columns.outputs.map((count, row) => (isMetered(row) ? count : Number.NaN));
  const metered = sumByServer({ labelSets, columns: { counts } }, 'counts');
  const waits = readCounts(waiting);
  for (const [row, labels] of labelSets.entries()) {
    const [vsId = '', format] = labels;
    if (format === 'm3u8' || !isMetered(row)) continue;
    // At least half of the metered outputs wait: bytes may flow.
    const mayFlow = 2 * (waits[`${vsId} http_output`] ?? 0) >= (metered.get(vsId) ?? 0);
    yield {
      labels,
      connections: columns.httpConnections[row] ?? 0,
      isFlowing: columns.httpOutputBytes[row] !== 0 || mayFlow,
    };
  }
}
