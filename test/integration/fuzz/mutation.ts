import fc from 'fast-check';

/** A change of some bytes, at offsets modulo the length of the buffer. */
type Mutation = (bytes: Buffer) => Buffer;

const place = fc.nat(1_000_000);

function replace(bytes: Buffer, at: number, removed: number, put: Uint8Array): Buffer {
  return Buffer.concat([bytes.subarray(0, at), put, bytes.subarray(at + removed)]);
}

function mutation(dictionary: readonly string[], corpus: readonly Buffer[]): fc.Arbitrary<Mutation> {
  const change = (to: (bytes: Buffer, at: number, length: number) => Buffer) =>
    fc.tuple(place, fc.nat(24)).map(
      ([at, length]): Mutation =>
        (bytes) =>
          to(bytes, at % (bytes.length + 1), length),
    );
  const put = (inserted: fc.Arbitrary<Uint8Array>) =>
    fc.tuple(place, fc.nat(3), inserted).map(
      ([at, removed, bytesPut]): Mutation =>
        (bytes) =>
          replace(bytes, at % (bytes.length + 1), removed, bytesPut),
    );
  return fc.oneof(
    { weight: 4, arbitrary: put(fc.constantFrom(...dictionary).map((text) => Buffer.from(text))) },
    { weight: 3, arbitrary: put(fc.uint8Array({ maxLength: 3 })) },
    { weight: 2, arbitrary: change((bytes, at, length) => replace(bytes, at, length, Buffer.alloc(0))) },
    { weight: 1, arbitrary: change((bytes, at) => bytes.subarray(0, at)) },
    {
      weight: 2,
      arbitrary: change((bytes, at, length) =>
        replace(bytes, at, 0, bytes.subarray(at, at + length * length)),
      ),
    },
    {
      weight: 1,
      arbitrary: fc.tuple(place, place, fc.constantFrom(...corpus)).map(
        ([at, from, other]): Mutation =>
          (bytes) =>
            Buffer.concat([
              bytes.subarray(0, at % (bytes.length + 1)),
              other.subarray(from % (other.length + 1)),
            ]),
      ),
    },
  );
}

/**
 * An element of a corpus with up to four mutations: it inserts texts of a dictionary, and changes, removes,
 * repeats or splices bytes.
 */
export function mutateBytes(corpus: readonly Buffer[], dictionary: readonly string[]): fc.Arbitrary<Buffer> {
  return fc
    .tuple(fc.constantFrom(...corpus), fc.array(mutation(dictionary, corpus), { maxLength: 4 }))
    .map(([bytes, changes]) => changes.reduce((changed, change) => change(changed), bytes));
}
