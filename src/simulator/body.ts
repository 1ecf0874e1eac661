/** A member of the answer's object: JSON text as it stands, or an array whose records are made while it is sent. */
export type Member =
  | { readonly name: string; readonly json: string }
  | { readonly name: string; readonly records: Iterable<unknown> };

const chunkLength = 64 * 1024;

/** The JSON text of an object, piece by piece. */
export function* objectText(members: readonly Member[]): Generator<string, void, undefined> {
  let opening = '{';
  for (const member of members) {
    yield `${opening}${JSON.stringify(member.name)}:`;
    opening = ',';
    if ('json' in member) yield member.json;
    else yield* arrayText(member.records);
  }
  yield '}';
}

function* arrayText(records: Iterable<unknown>): Generator<string, void, undefined> {
  let separator = '';
  yield '[';
  for (const record of records) {
    yield `${separator}${JSON.stringify(record)}`;
    separator = ',';
  }
  yield ']';
}

/** Gathers pieces of text into UTF-8 chunks of about 64 KiB. */
export function* chunksOf(pieces: Iterable<string>): Generator<Buffer, void, undefined> {
  let text = '';
  for (const piece of pieces) {
    text += piece;
    if (text.length >= chunkLength) {
      yield Buffer.from(text);
      text = '';
    }
  }
  if (text !== '') yield Buffer.from(text);
}

/** The first half of the first chunk: a body that stops in its midst. */
export function* firstHalf(chunks: Iterable<Buffer>): Generator<Buffer, void, undefined> {
  for (const chunk of chunks) {
    yield chunk.subarray(0, Math.ceil(chunk.length / 2));
    return;
  }
}

/** So many bytes of white space. */
export function* whiteSpace(bytes: number): Generator<Buffer, void, undefined> {
  const chunk = Buffer.alloc(chunkLength, ' ');
  for (let left = bytes; left > 0; left -= chunk.length)
    yield left < chunk.length ? chunk.subarray(0, left) : chunk;
}

/** Puts another form in the place of a member, or, without one, leaves the member out. */
export function replaceMember(members: readonly Member[], name: string, json?: string): readonly Member[] {
  if (json === undefined) return members.filter((member) => member.name !== name);
  return members.map((member) => (member.name === name ? { name, json } : member));
}

/** Spoils every n-th record of every array, each in another way. */
export function spoilRecords(members: readonly Member[], every: number): readonly Member[] {
  return members.map((member) =>
    'json' in member ? member : { name: member.name, records: spoiled(member.records, every) },
  );
}

function* spoiled(records: Iterable<unknown>, every: number): Generator<unknown, void, undefined> {
  let position = 0;
  for (const record of records) {
    position += 1;
    yield position % every === 0 ? spoil(record, position / every) : record;
  }
}

/** Breaks the interface for users and tasks alike: both have a `vs_id`, which is a string. */
function spoil(record: unknown, turn: number): unknown {
  switch (turn % 4) {
    case 1:
      return 42;
    case 2:
      return { ...Object(record), vs_id: [] };
    case 3:
      return null;
    default:
      return { ...Object(record), service_code: 7 };
  }
}
