import type { LabelSet } from '../families/label-set.ts';
import { readCounts, sumByServer, type RowsOf } from '../listing/rows.ts';
import type { Instant } from '../runtime/instant.ts';

/** As in `XvsDeliveryBlackhole`. */
const MIN_CONNECTIONS = 5;

/** A server that receives input, and delivers nothing to the viewers of a format. */
export interface StoppedDelivery {
  readonly vsId: string;
  readonly format: string;
  /** The last listing with bytes or with few viewers, in milliseconds since the Unix epoch. */
  readonly sinceMs: number;
}

type FlowTimes = ReadonlyMap<LabelSet, Instant>;
type Flow = readonly [labels: LabelSet, isFlowing: boolean];

/** Follows what the servers of one service code receive and deliver. */
export class Deliveries {
  /** When each server last received bytes. */
  #received: FlowTimes = new Map();
  /** When each format of a server that has viewers last delivered bytes. */
  #delivered: FlowTimes = new Map();

  /** Takes the rows of a listing, whose counters are what was gained since the one before. */
  commit(
    rows: RowsOf<'accounts' | 'outputs' | 'waiting'>,
    at: Instant,
    stallAfterMs: number,
  ): readonly StoppedDelivery[] {
    const { labelSets, columns } = rows.accounts;
    const inputs = labelSets.map((labels, row): Flow => [labels, columns.inputBytes[row] !== 0]);
    this.#received = updateTimes(this.#received, inputs, at);
    this.#delivered = updateTimes(this.#delivered, listDeliveries(rows), at);
    const isSilent = (flowed: Instant): boolean => at.monotonicMs - flowed.monotonicMs >= stallAfterMs;
    const receivers = new Set<string>();
    for (const [[vsId = ''], flowed] of this.#received) if (!isSilent(flowed)) receivers.add(vsId);
    return [...this.#delivered].flatMap(([[vsId = '', format = ''], flowed]) =>
      isSilent(flowed) && receivers.has(vsId) ? [{ vsId, format, sinceMs: flowed.wallMs }] : [],
    );
  }
}

/** A new label set has the time of its first listing; one that is missing is forgotten. */
function updateTimes(before: FlowTimes, flows: Iterable<Flow>, at: Instant): FlowTimes {
  const times = new Map<LabelSet, Instant>();
  for (const [labels, isFlowing] of flows)
    times.set(labels, (isFlowing ? undefined : before.get(labels)) ?? at);
  return times;
}

/** Lists the formats with viewers of each server. */
function* listDeliveries({ outputs, waiting }: RowsOf<'outputs' | 'waiting'>): Generator<Flow> {
  const { labelSets, columns } = outputs;
  const isMetered = (row: number): boolean => !Number.isNaN(columns.outputsUnwatched[row]);
  const counts = columns.outputs.map((count, row) => (isMetered(row) ? count : Number.NaN));
  const metered = sumByServer({ labelSets, columns: { counts } }, 'counts');
  const waits = readCounts(waiting);
  for (const [row, labels] of labelSets.entries()) {
    const [vsId = '', format] = labels;
    if (format === 'm3u8' || !((columns.httpConnections[row] ?? 0) >= MIN_CONNECTIONS)) continue;
    // At least half of the metered outputs wait: bytes may flow, as in `XvsDeliveryBlackhole`.
    const mayFlow = 2 * (waits[`${vsId} http_output`] ?? 0) >= (metered.get(vsId) ?? 0);
    yield [labels, columns.httpOutputBytes[row] !== 0 || mayFlow];
  }
}
