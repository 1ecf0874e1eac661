import type { TaskReading } from '../../listing/listing.ts';
import { isNamed } from '../../listing/label-values.ts';
import type { RowsOf } from '../../listing/rows.ts';
import type { TaskGain } from '../ledger/ledger.ts';
import type { Delivery } from './delivery-stops.ts';
import type { IngestCounts } from './ingest-stop.ts';

/** What the tasks of a listing receive, and what they deliver to viewers. */
export class ListingFlows implements IngestCounts {
  receiving = 0;
  starting = 0;
  readonly silentSinceMs: number[] = [];
  /* By row of the outputs. */
  readonly #connections: number[] = [];
  readonly #deliveredBytes: number[] = [];
  readonly #receivedMs: number[] = [];

  add({ outputs }: TaskReading, { flow, activeMs, outputBytes, waiting }: TaskGain): void {
    if (flow === 'receiving') this.receiving += 1;
    if (flow === 'starting') this.starting += 1;
    if (flow === 'silent') this.silentSinceMs.push(activeMs);
    // Values that wait do not tell whether bytes flow.
    if ((flow !== 'receiving' && flow !== 'reading') || waiting.http_output > 0) return;
    for (const [index, { outputRow: row, connections }] of outputs.entries()) {
      this.#connections[row] = (this.#connections[row] ?? 0) + connections;
      this.#deliveredBytes[row] = (this.#deliveredBytes[row] ?? 0) + (outputBytes[index] ?? 0);
      if (connections > 0) this.#receivedMs[row] = Math.max(this.#receivedMs[row] ?? -Infinity, activeMs);
    }
  }

  /** Lists the metered formats of servers that have viewers. */
  *listDeliveries({ outputs: { labelSets, columns } }: RowsOf<'outputs'>): Generator<Delivery, void> {
    for (const [row, labels] of labelSets.entries()) {
      const connections = this.#connections[row] ?? 0;
      const isMetered = !Number.isNaN(columns.outputsUnwatched[row]) && labels[1] !== 'm3u8';
      if (connections === 0 || !isMetered || !isNamed(labels)) continue;
      const receivedMs = this.#receivedMs[row] ?? -Infinity;
      yield { labels, connections, isFlowing: (this.#deliveredBytes[row] ?? 0) > 0, receivedMs };
    }
  }
}
