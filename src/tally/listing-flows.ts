import type { TaskReading } from '../listing/listing.ts';
import { isNamed } from '../listing/label-values.ts';
import type { RowsOf } from '../listing/rows.ts';
import type { TaskIncrease } from './ledger/ledger.ts';
import type { Delivery } from './losses/delivery-stops.ts';
import type { IngestCounts } from './losses/ingest-stop.ts';

/** What the tasks of a listing receive, and what they deliver to viewers. */
export class ListingFlows implements IngestCounts {
  receiving = 0;
  starting = 0;
  readonly silentSinceMs: number[] = [];
  /* By row of the outputs. */
  readonly #connections: number[];
  readonly #deliveredBytes: number[];
  readonly #receivedMs: number[];

  constructor({ labelSets }: RowsOf<'outputs'>['outputs']) {
    this.#connections = labelSets.map(() => 0);
    this.#deliveredBytes = labelSets.map(() => 0);
    this.#receivedMs = labelSets.map(() => 0);
  }

  add({ outputs }: TaskReading, { flow, activeMs, outputBytes, waiting }: TaskIncrease): void {
    if (flow === 'receiving') this.receiving += 1;
    if (flow === 'starting') this.starting += 1;
    if (flow === 'silent') this.silentSinceMs.push(activeMs);
    // Values that wait do not tell whether bytes flow.
    if ((flow !== 'receiving' && flow !== 'reading') || waiting.http_output > 0) return;
    let index = 0;
    for (const { outputRow: row, connections } of outputs) {
      const bytes = outputBytes[index] ?? 0;
      index += 1;
      if (bytes > 0) this.#deliveredBytes[row] = (this.#deliveredBytes[row] ?? 0) + bytes;
      if (connections === 0) continue;
      this.#connections[row] = (this.#connections[row] ?? 0) + connections;
      this.#receivedMs[row] = Math.max(this.#receivedMs[row] ?? 0, activeMs);
    }
  }

  /** Lists the metered formats of servers that have viewers. */
  listDeliveries({ outputs: { labelSets, columns } }: RowsOf<'outputs'>): readonly Delivery[] {
    const deliveries: Delivery[] = [];
    for (const [row, labels] of labelSets.entries()) {
      const connections = this.#connections[row] ?? 0;
      const isMetered = labels[1] !== 'm3u8' && !Number.isNaN(columns.outputsUnwatched[row]);
      if (connections === 0 || !isMetered || !isNamed(labels)) continue;
      const isFlowing = (this.#deliveredBytes[row] ?? 0) > 0;
      deliveries.push({ labels, connections, isFlowing, receivedMs: this.#receivedMs[row] ?? 0 });
    }
    return deliveries;
  }
}
