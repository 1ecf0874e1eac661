/** The members of a response. Records are generated while the response is sent. */
export type Members = Readonly<Record<string, unknown>>;

const CHUNK_LENGTH = 64 * 1024;

/** Serializes an object into UTF-8 chunks of about 64 KiB. */
export function* serializeBody(members: Members): Generator<Buffer, void, undefined> {
  let text = '';
  for (const piece of serializeObject(members)) {
    text += piece;
    if (text.length >= CHUNK_LENGTH) {
      yield Buffer.from(text);
      text = '';
    }
  }
  yield Buffer.from(text);
}

function* serializeObject(members: Members): Generator<string, void, undefined> {
  let separator = '{';
  for (const [name, value] of Object.entries(members)) {
    yield `${separator}${JSON.stringify(name)}:`;
    separator = ',';
    if (isIterable(value)) yield* serializeArray(value);
    else yield JSON.stringify(value);
  }
  yield '}';
}

function* serializeArray(records: Iterable<unknown>): Generator<string, void, undefined> {
  let separator = '';
  yield '[';
  for (const record of records) {
    yield `${separator}${JSON.stringify(record)}`;
    separator = ',';
  }
  yield ']';
}

function isIterable(value: unknown): value is Iterable<unknown> {
  return typeof value === 'object' && value !== null && Symbol.iterator in value;
}

/** Yields white space of a length in bytes, and then a body. */
export function* prependWhiteSpace(bytes: number, members: Members): Generator<Buffer, void, undefined> {
  const chunk = Buffer.alloc(CHUNK_LENGTH, ' ');
  for (let left = bytes; left > 0; left -= chunk.length) yield chunk.subarray(0, left);
  yield* serializeBody(members);
}

/**
 * Corrupts every n-th record of both lists: the record, in four ways by turns, or the type of one of its
 * fields, which a client counts as missing.
 */
export function corruptRecords(members: Members, part: 'record' | 'field', every: number): Members {
  const corrupt = part === 'record' ? corruptRecord : corruptField;
  const entries = Object.entries(members).map(([name, value]) => [
    name,
    isIterable(value) ? corruptEveryNth(value, every, corrupt) : value,
  ]);
  return Object.fromEntries(entries);
}

function* corruptEveryNth(
  records: Iterable<unknown>,
  every: number,
  corrupt: (record: object, turn: number) => unknown,
): Generator<unknown, void, undefined> {
  let position = 0;
  for (const record of records) {
    position += 1;
    yield position % every === 0 ? corrupt(Object(record), position / every) : record;
  }
}

/** Makes a record that a client must reject: no object, or a task without an id. A user can be any object. */
function corruptRecord(record: object, turn: number): unknown {
  const corrupted = ['inputs' in record ? { ...record, id: '' } : 'user', 42, [record], null];
  return corrupted[turn % corrupted.length];
}

function corruptField(record: object): unknown {
  return 'inputs' in record ? { ...record, progress: 'unknown' } : { ...record, client_version: true };
}
