import { ListingReader, type ListingEnd } from '../../src/listing/reader.ts';
import type { ListingSink } from '../../src/listing/record-readers.ts';
import type { InvalidReason, RecordKind, TaskRecord, UserRecord } from '../../src/listing/records.ts';

/** A sink that keeps all it is given. */
export class CollectingSink implements ListingSink {
  readonly users: UserRecord[] = [];
  readonly tasks: TaskRecord[] = [];
  readonly left: [RecordKind, InvalidReason][] = [];

  user(record: UserRecord): void {
    this.users.push({ ...record });
  }

  task(record: TaskRecord): void {
    this.tasks.push(record);
  }

  invalid(record: RecordKind, reason: InvalidReason): void {
    this.left.push([record, reason]);
  }
}

/** Reads a body cut at the given offsets. */
export function readCut(
  body: Uint8Array,
  cuts: readonly number[],
): { sink: CollectingSink; end: ListingEnd } {
  const sink = new CollectingSink();
  const reader = new ListingReader(sink);
  let start = 0;
  for (const cut of [...cuts.toSorted((a, b) => a - b), body.length]) {
    // Copied, as a socket would: a view of the whole would hide a read beyond the chunk.
    if (cut > start || start === 0) reader.write(Buffer.from(body.subarray(start, cut)));
    start = Math.max(start, cut);
  }
  return { sink, end: reader.end() };
}
