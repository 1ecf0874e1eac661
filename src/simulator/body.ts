/** A member of the response object: JSON text, or an array whose records are generated while it is sent. */
export type Member =
  | { readonly name: string; readonly json: string }
  | { readonly name: string; readonly records: Iterable<unknown> };

const CHUNK_LENGTH = 64 * 1024;

/** Serializes an object piece by piece. */
export function* serializeObject(members: readonly Member[]): Generator<string, void, undefined> {
  let opening = '{';
  for (const member of members) {
    yield `${opening}${JSON.stringify(member.name)}:`;
    opening = ',';
    if ('json' in member) yield member.json;
    else yield* serializeArray(member.records);
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

/** Joins pieces of text into UTF-8 chunks of about 64 KiB. */
export function* toChunks(pieces: Iterable<string>): Generator<Buffer, void, undefined> {
  let text = '';
  for (const piece of pieces) {
    text += piece;
    if (text.length >= CHUNK_LENGTH) {
      yield Buffer.from(text);
      text = '';
    }
  }
  if (text !== '') yield Buffer.from(text);
}

/** Yields only the first half of the first chunk. */
export function* takeFirstHalf(chunks: Iterable<Buffer>): Generator<Buffer, void, undefined> {
  for (const chunk of chunks) {
    yield chunk.subarray(0, Math.ceil(chunk.length / 2));
    return;
  }
}

/** Generates white space of a length in bytes. */
export function* generateWhiteSpace(bytes: number): Generator<Buffer, void, undefined> {
  const chunk = Buffer.alloc(CHUNK_LENGTH, ' ');
  for (let left = bytes; left > 0; left -= chunk.length)
    yield left < chunk.length ? chunk.subarray(0, left) : chunk;
}

/** Replaces the JSON text of a member, or removes the member if `json` is `undefined`. */
export function replaceMember(members: readonly Member[], name: string, json?: string): readonly Member[] {
  if (json === undefined) return members.filter((member) => member.name !== name);
  return members.map((member) => (member.name === name ? { name, json } : member));
}

/** Corrupts every n-th record of every array, in four ways by turns. */
export function corruptRecords(members: readonly Member[], every: number): readonly Member[] {
  return corruptEveryNth(members, every, corruptRecord);
}

/** Gives a field of every n-th record of every array a wrong type; a client counts it as missing. */
export function corruptFields(members: readonly Member[], every: number): readonly Member[] {
  return corruptEveryNth(members, every, (record) =>
    'inputs' in Object(record)
      ? { ...Object(record), progress: 'unknown' }
      : { ...Object(record), client_version: true },
  );
}

type Corrupt = (record: unknown, turn: number) => unknown;

function corruptEveryNth(members: readonly Member[], every: number, corrupt: Corrupt): readonly Member[] {
  return members.map((member) =>
    'json' in member
      ? member
      : { name: member.name, records: corruptRecordsOfList(member.records, every, corrupt) },
  );
}

function* corruptRecordsOfList(
  records: Iterable<unknown>,
  every: number,
  corrupt: Corrupt,
): Generator<unknown, void, undefined> {
  let position = 0;
  for (const record of records) {
    position += 1;
    yield position % every === 0 ? corrupt(record, position / every) : record;
  }
}

/** Makes a record that a client must reject: no object, or a task without an id. A user can be any object. */
function corruptRecord(record: unknown, turn: number): unknown {
  switch (turn % 4) {
    case 1:
      return 42;
    case 2:
      return [record];
    case 3:
      return null;
    default:
      return 'inputs' in Object(record) ? { ...Object(record), id: '' } : 'user';
  }
}
