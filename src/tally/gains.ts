import type { ListingRows, TaskReading } from '../listing/listing.ts';
import { addOrSet } from '../listing/rows.ts';
import type { TaskGain } from './ledger/ledger.ts';
import type { LedgerRows } from './ledger/server-sums.ts';

type GainRows = Pick<ListingRows, 'outputs' | 'renditions'> & Pick<LedgerRows, 'protocols' | 'waiting'>;

/** Adds what a task gained to the rows of its listing. */
export function addGain(
  rows: GainRows,
  { protocol, vsId, outputs }: TaskReading,
  { inputBytes = 0, outputBytes, waiting }: TaskGain,
): void {
  if (protocol !== undefined) rows.protocols.count('protocolInputBytes', inputBytes, protocol);
  for (const [index, { outputRow, renditionRow }] of outputs.entries()) {
    const bytes = outputBytes[index] ?? 0;
    addOrSet(rows.outputs.columns.httpOutputBytes, outputRow, bytes);
    addOrSet(rows.renditions.columns.renditionHttpOutputBytes, renditionRow, bytes);
  }
  for (const direction of ['input', 'http_output'] as const)
    if (waiting[direction] > 0) rows.waiting.count('byteCountsWaiting', waiting[direction], vsId, direction);
}
