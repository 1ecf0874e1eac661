import type { ListingRows, TaskReading } from '../listing/listing.ts';
import { addOrSet, readCounts, TextRows } from '../listing/rows.ts';
import type { TaskIncrease } from './ledger/ledger.ts';
import type { LedgerRows } from './ledger/server-sums.ts';

/** Those rows of a listing that a commit changes, with copies of the columns that it changes. */
export function openRows({ outputs, renditions, listingSurplus }: ListingRows) {
  const { outputsUnwatched, httpOutputBytes } = outputs.columns;
  const { renditionHttpOutputBytes } = renditions.columns;
  const surplus = new TextRows('listingSurplus');
  for (const [item, count] of Object.entries(readCounts(listingSurplus)))
    surplus.set({ listingSurplus: count }, item);
  return {
    outputs: {
      labelSets: outputs.labelSets,
      columns: {
        ...outputs.columns,
        outputsUnwatched: outputsUnwatched.slice(),
        httpOutputBytes: httpOutputBytes.slice(),
      },
    },
    renditions: {
      labelSets: renditions.labelSets,
      columns: { ...renditions.columns, renditionHttpOutputBytes: renditionHttpOutputBytes.slice() },
    },
    listingSurplus: surplus,
  };
}

export type OpenRows = ReturnType<typeof openRows>;
type IncreaseRows = Pick<OpenRows, 'outputs' | 'renditions'> & Pick<LedgerRows, 'protocols' | 'waiting'>;

/** Adds the increase of a task to the rows of its listing. */
export function addIncrease(
  rows: IncreaseRows,
  { protocol, vsId, outputs }: TaskReading,
  { inputBytes = 0, outputBytes, waiting }: TaskIncrease,
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
