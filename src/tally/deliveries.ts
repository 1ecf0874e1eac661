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

/** Follows what the servers of one service code receive and deliver. */
export class Deliveries {
  /** When each server last received bytes, and each of its formats with viewers delivered some. */
  #flowed = new Map<LabelSet, Instant>();

  /** Takes the rows of a listing, whose counters are what was gained since the one before. */
  commit(rows: RowsOf<'accounts' | 'outputs' | 'waiting'>, at: Instant, stallAfterMs: number) {
    const { labelSets, columns } = rows.outputs;
    const before = this.#flowed;
    this.#flowed = new Map();
    const findSilence = (labels: LabelSet, flows: boolean): Instant | undefined => {
      const flowed = (flows ? undefined : before.get(labels)) ?? at;
      this.#flowed.set(labels, flowed);
      return at.monotonicMs - flowed.monotonicMs >= stallAfterMs ? flowed : undefined;
    };
    const receivers = new Set<string>();
    for (const [row, labels] of rows.accounts.labelSets.entries())
      if (!findSilence(labels, rows.accounts.columns.inputBytes[row] !== 0)) receivers.add(labels[0] ?? '');
    const waiting = readCounts(rows.waiting);
    const isMetered = (row: number): boolean => !Number.isNaN(columns.outputsUnwatched[row]);
    const counts = columns.outputs.map((count, row) => (isMetered(row) ? count : Number.NaN));
    const metered = sumByServer({ labelSets, columns: { counts } }, 'counts');
    return labelSets.flatMap((labels, row): readonly StoppedDelivery[] => {
      const [vsId = '', format = ''] = labels;
      if (format === 'm3u8' || !((columns.httpConnections[row] ?? 0) >= MIN_CONNECTIONS)) return [];
      const mayFlow = 2 * (waiting[`${vsId} http_output`] ?? 0) >= (metered.get(vsId) ?? 0);
      const since = findSilence(labels, columns.httpOutputBytes[row] !== 0 || mayFlow);
      return since && receivers.has(vsId) ? [{ vsId, format, sinceMs: since.wallMs }] : [];
    });
  }
}
