import fc from 'fast-check';
import type { readableFields } from '../../src/listing/interface.ts';
import { arbitraryText } from './arbitrary-text.ts';
import { POLLED_CODE } from './read-listing.ts';

/** Any JSON value. */
const arbitraryValue = fc.oneof(
  { weight: 8, arbitrary: fc.jsonValue({ maxDepth: 3 }) },
  { weight: 1, arbitrary: fc.tuple(fc.nat(60), fc.jsonValue({ maxDepth: 1 })).map(nestValue) },
);

/** Nests a value in alternating arrays and objects. */
function nestValue([depth, innermost]: readonly [number, unknown]): unknown {
  let value = innermost;
  for (let level = 0; level < depth; level += 1) value = level % 2 === 0 ? [value] : { ret: value };
  return value;
}
const text = fc.oneof(
  arbitraryText(12),
  fc.constantFrom(
    '',
    'flv',
    'rtmp',
    'm3u8',
    '451',
    'ü',
    '\ud800',
    '\udc00x',
    '\u{1f600}',
    '\u0000',
    '"\\/',
    '\u2028',
    '__proto__',
  ),
);
const integer = fc.oneof(
  fc.nat(),
  fc.maxSafeInteger(),
  fc.constantFrom(
    0,
    -0,
    -1,
    1e15,
    2 ** 53,
    2 ** 53 - 1,
    -(2 ** 53),
    1e300,
    0.5,
    1e21,
    5e-324,
    123_456_789,
    1_234_567_890,
    1e-7,
  ),
);
const numberOrText = fc.oneof(fc.nat(), text);
const serviceCode = fc.oneof(fc.constant(POLLED_CODE), text);
const url = fc.constantFrom(
  '',
  'rtmp://host/app',
  'HTTP://host/x',
  'srt://h',
  'gopher://h',
  'nonsense',
  'a:',
);

/** Mostly a valid value; sometimes missing, null or any JSON value. */
const usually = <T>(valid: fc.Arbitrary<T>): fc.Arbitrary<unknown> =>
  fc.oneof(
    { weight: 40, arbitrary: valid },
    { weight: 2, arbitrary: fc.constant(undefined) },
    { weight: 1, arbitrary: fc.constant(null) },
    { weight: 1, arbitrary: arbitraryValue },
  );

const arbitraryList = (entry: fc.Arbitrary<unknown>): fc.Arbitrary<unknown[]> =>
  fc.array(fc.oneof({ weight: 20, arbitrary: entry }, { weight: 1, arbitrary: arbitraryValue }), {
    maxLength: 4,
  });

const unknownMember = fc.oneof(
  { weight: 4, arbitrary: fc.constant(undefined) },
  { weight: 1, arbitrary: arbitraryValue },
);

/** An arbitrary for each field that the reader reads. */
type Fields<K extends keyof typeof readableFields> = Readonly<
  Record<keyof (typeof readableFields)[K]['shape'] | (string & {}), fc.Arbitrary<unknown>>
>;

const stream = fc.record({
  index: usually(integer),
  codec_type: usually(fc.constantFrom(0, 1, 2)),
  codec_id: usually(integer),
  copy: usually(fc.constantFrom(0, 1, 2, 3)),
  width: usually(fc.nat()),
  height: usually(fc.nat()),
  bit_rate: usually(integer),
  later_addition: unknownMember,
} satisfies Fields<'stream'>);

const output = fc.record({
  file_name: usually(text),
  relative_dir: usually(text),
  tag: usually(text),
  audio_codec_name: usually(text),
  video_codec_name: usually(text),
  format: usually(text),
  width: usually(fc.nat()),
  height: usually(fc.nat()),
  http_output_bytes: usually(integer),
  http_connections_num: usually(fc.nat()),
  live_url: usually(text),
  streams: usually(arbitraryList(stream)),
  later_addition: unknownMember,
} satisfies Fields<'output'>);

const input = fc.record({
  url: usually(url),
  service_code: usually(serviceCode),
  user_name: usually(text),
  device_type: usually(numberOrText),
  device_version: usually(numberOrText),
  client_version: usually(text),
  input_bytes: usually(integer),
} satisfies Fields<'input'>);

const task = fc.record({
  id: usually(text),
  serial: usually(integer),
  sequence: usually(integer),
  progress: usually(fc.oneof(integer, fc.double())),
  vs_id: usually(text),
  service_code: usually(serviceCode),
  http_live_url: usually(text),
  input_bytes: usually(integer),
  opaque: usually(text),
  inputs: usually(arbitraryList(input)),
  outputs: usually(arbitraryList(output)),
  later_addition: unknownMember,
} satisfies Fields<'task'>);

const user = fc.record({
  vs_id: usually(text),
  service_code: usually(serviceCode),
  user_name: usually(text),
  client_version: usually(numberOrText),
  device_type: usually(numberOrText),
  id: usually(text),
  later_addition: unknownMember,
} satisfies Fields<'user'>);

/** A listing with `ret` 0 and two lists, in which any record and any field may be any JSON value. */
export const arbitraryListing = fc.record({
  ret: fc.constantFrom(0, '0'),
  user_list: arbitraryList(user),
  task_list: arbitraryList(task),
  later_addition: unknownMember,
});
