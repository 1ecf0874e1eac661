import fc from 'fast-check';

/** Anything at all, in the place of anything. */
const anything = fc.oneof(
  { weight: 8, arbitrary: fc.jsonValue({ maxDepth: 3 }) },
  { weight: 1, arbitrary: fc.tuple(fc.nat(60), fc.jsonValue({ maxDepth: 1 })).map(nested) },
);

/** A value within arrays and objects, so many levels deep. */
function nested([depth, innermost]: readonly [number, unknown]): unknown {
  let value = innermost;
  for (let level = 0; level < depth; level += 1) value = level % 2 === 0 ? [value] : { ret: value };
  return value;
}
const text = fc.oneof(
  fc.string({ unit: 'binary', maxLength: 12 }),
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
const url = fc.constantFrom(
  '',
  'rtmp://host/app',
  'HTTP://host/x',
  'srt://h',
  'gopher://h',
  'nonsense',
  'a:',
);

/** Mostly what is right, at times missing, null, or something else. */
const mostly = <T>(right: fc.Arbitrary<T>): fc.Arbitrary<unknown> =>
  fc.oneof(
    { weight: 40, arbitrary: right },
    { weight: 2, arbitrary: fc.constant(undefined) },
    { weight: 1, arbitrary: fc.constant(null) },
    { weight: 1, arbitrary: anything },
  );

const entries = (entry: fc.Arbitrary<unknown>): fc.Arbitrary<unknown[]> =>
  fc.array(fc.oneof({ weight: 20, arbitrary: entry }, { weight: 1, arbitrary: anything }), { maxLength: 4 });

const unknownMember = fc.oneof(
  { weight: 4, arbitrary: fc.constant(undefined) },
  { weight: 1, arbitrary: anything },
);

const stream = fc.record({
  index: mostly(integer),
  codec_type: mostly(fc.constantFrom(0, 1, 2)),
  codec_id: mostly(integer),
  copy: mostly(fc.constantFrom(0, 1, 2, 3)),
  width: mostly(fc.nat()),
  height: mostly(fc.nat()),
  bit_rate: mostly(fc.nat()),
  later_addition: unknownMember,
});

const output = fc.record({
  file_name: mostly(text),
  relative_dir: mostly(text),
  tag: mostly(text),
  audio_codec_name: mostly(text),
  video_codec_name: mostly(text),
  format: mostly(text),
  width: mostly(fc.nat()),
  height: mostly(fc.nat()),
  http_output_bytes: mostly(integer),
  http_connections_num: mostly(fc.nat()),
  live_url: mostly(text),
  streams: mostly(entries(stream)),
  later_addition: unknownMember,
});

const input = fc.record({
  url: mostly(url),
  service_code: mostly(text),
  user_name: mostly(text),
  device_type: mostly(fc.oneof(fc.nat(), text)),
  device_version: mostly(fc.oneof(fc.nat(), text)),
  client_version: mostly(text),
  input_bytes: mostly(integer),
});

const task = fc.record({
  id: mostly(text),
  serial: mostly(integer),
  sequence: mostly(integer),
  progress: mostly(fc.nat()),
  vs_id: mostly(text),
  service_code: mostly(text),
  http_live_url: mostly(text),
  input_bytes: mostly(integer),
  opaque: mostly(text),
  inputs: mostly(entries(input)),
  outputs: mostly(entries(output)),
  later_addition: unknownMember,
});

const user = fc.record({
  vs_id: mostly(text),
  service_code: mostly(text),
  user_name: mostly(text),
  client_version: mostly(fc.oneof(fc.nat(), text)),
  device_type: mostly(fc.oneof(fc.nat(), text)),
  id: mostly(text),
  later_addition: unknownMember,
});

/** A listing with `ret` 0 and two lists, in which any record and any field may be anything. */
export const wildListing = fc.record({
  ret: fc.constantFrom(0, '0'),
  user_list: entries(user),
  task_list: entries(task),
  later_addition: unknownMember,
});
