import {
  SURPLUS_ITEMS,
  type ForeignCount,
  type InvalidCount,
  type InvalidFieldCount,
  type ListingTotals,
  type RejectedEntry,
  type SurplusCount,
} from './listing-sink.ts';
import type { ModuleExports } from './module-exports.ts';
import type { ModuleMemory } from './module-memory.ts';
import { RECORD_KINDS, type InvalidReason, type RecordKind } from './records.ts';
import type { RowDecoder } from './row-decoder.ts';

/** In the order of `invalid.ts` of the module. */
const REASONS: readonly InvalidReason[] = [
  'not_an_object',
  'missing_field',
  'wrong_type',
  'too_long',
  'duplicate_id',
];
const WORD_BYTES = 4;
const FIELDS_PER_RECORD = 16;
const REJECTED_BYTES = 16;

/** The names of the fields of each kind of record, in the order of the module. */
export type FieldNames = Readonly<Record<RecordKind, readonly string[]>>;

/** Reads the names of the fields from the module's record types. */
export function readFieldNames(exports: ModuleExports, memory: ModuleMemory): FieldNames {
  const readNames = (type: number): string[] =>
    Array.from({ length: exports.countFields(type) }, (_, index) => {
      const key = exports.fieldAt(type, index);
      // Without the opening quote, the closing one and the colon.
      return memory.readLatin1(key + 1, exports.keyLengthOf(key) - 3);
    });
  return {
    user: readNames(exports.userType.value),
    task: readNames(exports.taskType.value),
    input: readNames(exports.inputType.value),
    output: readNames(exports.outputType.value),
    stream: readNames(exports.streamType.value),
  };
}

/** Decodes what a listing adds up to; `rows` are decoded one by one. */
export function decodeTotals(
  exports: ModuleExports,
  memory: ModuleMemory,
  fields: FieldNames,
  rows: RowDecoder,
): ListingTotals {
  const hasInvalid = exports.hasInvalid.value !== 0;
  return {
    users: exports.users.value,
    tasks: exports.tasks.value,
    rows: rows.decodeAll(),
    invalidRecords: hasInvalid ? decodeInvalidRecords(exports.rejected.value, memory) : [],
    invalidFields: hasInvalid ? decodeInvalidFields(exports.invalidFields.value, memory, fields) : [],
    foreignRecords: decodeForeign(exports),
    surplus: decodeSurplus(exports.surplus.value, memory),
    firstRejected: decodeFirstRejected(exports, memory),
  };
}

function decodeInvalidRecords(address: number, memory: ModuleMemory): InvalidCount[] {
  return RECORD_KINDS.flatMap((record, kind) =>
    REASONS.map((reason, index) => ({
      record,
      reason,
      count: memory.readWord(address + (kind * REASONS.length + index) * WORD_BYTES),
    })),
  ).filter(isPositive);
}

function decodeInvalidFields(address: number, memory: ModuleMemory, fields: FieldNames): InvalidFieldCount[] {
  return RECORD_KINDS.flatMap((record, kind) =>
    fields[record].map((field, index) => ({
      record,
      field,
      count: memory.readWord(address + (kind * FIELDS_PER_RECORD + index) * WORD_BYTES),
    })),
  ).filter(isPositive);
}

function decodeForeign({ foreignUsers, foreignTasks }: ModuleExports): ForeignCount[] {
  const counts: ForeignCount[] = [
    { record: 'user', count: foreignUsers.value },
    { record: 'task', count: foreignTasks.value },
  ];
  return counts.filter(isPositive);
}

function decodeSurplus(address: number, memory: ModuleMemory): SurplusCount[] {
  return SURPLUS_ITEMS.map((item, index) => ({
    item,
    count: memory.readWord(address + index * WORD_BYTES),
  })).filter(isPositive);
}

function decodeFirstRejected(exports: ModuleExports, memory: ModuleMemory): RejectedEntry[] {
  return Array.from({ length: exports.firstRejectedCount.value }, (_, index) => {
    const address = exports.firstRejected.value + index * REJECTED_BYTES;
    return {
      record: RECORD_KINDS[memory.readWord(address)] ?? 'user',
      reason: REASONS[memory.readWord(address + WORD_BYTES)] ?? 'not_an_object',
      index: memory.readWord(address + 2 * WORD_BYTES),
    };
  });
}

function isPositive({ count }: { readonly count: number }): boolean {
  return count > 0;
}
