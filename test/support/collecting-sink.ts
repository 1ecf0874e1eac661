import { ListingReader, type ListingResult } from '../../src/listing/reader.ts';
import type { ListingSink } from '../../src/listing/record-readers.ts';
import type { InvalidReason, RecordKind, TaskRecord, UserRecord } from '../../src/listing/records.ts';

/** A sink that keeps everything it receives. */
export class CollectingSink implements ListingSink {
  readonly users: UserRecord[] = [];
  readonly tasks: TaskRecord[] = [];
  readonly invalidRecords: [RecordKind, InvalidReason][] = [];
  /** As `record.field`. */
  readonly invalidFields: string[] = [];

  addUser(record: UserRecord): void {
    this.users.push({ ...record });
  }

  addTask(record: TaskRecord): void {
    this.tasks.push(record);
  }

  addInvalid(record: RecordKind, reason: InvalidReason): void {
    this.invalidRecords.push([record, reason]);
  }

  addInvalidField(record: RecordKind, field: string): void {
    this.invalidFields.push(`${record}.${field}`);
  }
}

/** The service code that test listings are polled for. */
export const POLLED_CODE = 'TESTING';

/** Reads a body cut at the given offsets. */
export function readInChunks(
  body: Uint8Array,
  cuts: readonly number[],
): { sink: CollectingSink; end: ListingResult } {
  const sink = new CollectingSink();
  const reader = new ListingReader(sink, POLLED_CODE);
  let start = 0;
  for (const cut of [...cuts.toSorted((a, b) => a - b), body.length]) {
    // A copy, as from a socket: a view of the whole body would hide a read beyond the chunk.
    if (cut > start || start === 0) reader.write(Buffer.from(body.subarray(start, cut)));
    start = Math.max(start, cut);
  }
  return { sink, end: reader.end() };
}
