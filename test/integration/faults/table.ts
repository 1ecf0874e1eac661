import { createHash } from 'node:crypto';
import type { Socket } from 'node:net';
import { gzipSync } from 'node:zlib';
import type { PollErrorReason } from '../../../src/upstream/errors.ts';
import {
  formatHead,
  injectSimulatorFault,
  respondAndClose,
  respondAndReset,
  respondEndlessly,
  respondWith,
  respondWithBody,
  respondWithRetryAfter,
  respondWithStatus,
  type FaultAction,
} from '../fault-actions.ts';
import { INTERVAL_MS, MAX_RESPONSE_BYTES } from '../rig-configuration.ts';

/** A row of the matrix: a fault and its expected outcome. */
export interface Fault extends Outcome {
  readonly name: string;
  readonly make: FaultAction;
  readonly reason: PollErrorReason;
}

interface Outcome {
  /** The service code that fails; by default the one with plain HTTP and an IP address. */
  readonly faultyCode?: 'SECURE' | 'NAMED';
  /** The `ret` of the response; `any` if it depends on the bytes that arrive before the connection breaks. */
  readonly ret?: number | 'any';
  /** The number of polls that are skipped because the service requested a pause. */
  readonly skippedPolls?: number;
  /** The size of the body, if it is decoded completely. */
  readonly bytes?: number;
}

type Row = readonly [name: string, make: FaultAction, outcome?: Outcome];

/** Faults that fail polls for one reason, with an outcome that they share. */
function failWith(reason: PollErrorReason, rows: readonly Row[], shared: Outcome = {}): readonly Fault[] {
  return rows.map(([name, make, outcome]) => ({ name, make, reason, ...shared, ...outcome }));
}

const LISTS = '"user_list":[],"task_list":[]';
const LISTING = `{"ret":0,${LISTS}}`;
const CHUNK = `${LISTING.length.toString(16)}\r\n${LISTING}\r\n`;
/** A listing that compresses badly. */
const LONG_LISTING = `{"ret":0,${LISTS},"filling":"${createHash('shake256', { outputLength: 10_000 }).digest('hex')}"}`;
const CHUNKED = 'transfer-encoding: chunked';
const GZIP = 'content-encoding: gzip';
const LENGTH = `content-length: ${LISTING.length}`;
const WITH_LENGTH = formatHead(LENGTH);
const WITH_CHUNKS = formatHead(CHUNKED);
const PROCESSING = 'HTTP/1.1 102 Processing\r\n\r\n';
const HALF_A_HEADER = 'HTTP/1.1 200 OK\r\ncontent-ty';
/** Decodes to 64 MiB. */
const GZIP_BOMB = gzipSync(Buffer.alloc(64 * 1024 * 1024, ' '), { level: 9 });
const FILLING = Buffer.alloc(65_536, ' ');

function corruptByte(bytes: Buffer): Buffer {
  const at = bytes.length - 6;
  return Buffer.from(bytes.map((byte, index) => (index === at ? byte ^ 0xff : byte)));
}

function handleConnectionsWith(accept: (socket: Socket) => void): FaultAction {
  return ({ proxy }) => {
    proxy.onConnection = accept;
    proxy.closeConnections();
  };
}

const forgetName: FaultAction = ({ resolver, proxy }) => {
  // An open connection needs no name resolution.
  proxy.closeConnections();
  if (resolver !== undefined) resolver.isKnown = false;
};

const OVER_TLS = { faultyCode: 'SECURE' } as const;

/** The connection fails or breaks. */
const CONNECTIONS = [
  ...failWith('connect', [['a refused connection', ({ proxy }) => proxy.close()]]),
  ...failWith('dns', [['a name that does not exist', forgetName]], { faultyCode: 'NAMED' }),
  ...failWith('reset', [
    ['a connection that is closed immediately', handleConnectionsWith((socket) => socket.destroy())],
    ['no answer, but a closed connection', injectSimulatorFault({ fault: 'refuse' })],
    ['a reset before the header', injectSimulatorFault({ fault: 'reset_headers' })],
    ['a reset within the header', respondAndReset(HALF_A_HEADER)],
    ['a reset after the header', respondAndReset(WITH_LENGTH)],
    ['a reset within the body', injectSimulatorFault({ fault: 'reset_body' }), { ret: 'any' }],
    [
      'a reset within a compressed body',
      respondAndReset(formatHead(CHUNKED, GZIP), '5\r\n', gzipSync(LONG_LISTING).subarray(0, 5), '\r\n'),
    ],
    [
      'a reset within the TLS handshake',
      handleConnectionsWith((socket) => socket.once('data', () => socket.resetAndDestroy())),
      OVER_TLS,
    ],
    [
      'a close within the body, over TLS',
      respondAndClose(WITH_LENGTH, '{"ret":0,'),
      { ...OVER_TLS, ret: 'any' },
    ],
  ]),
  ...failWith(
    'tls',
    [
      ['a certificate of another host', ({ proxy }) => proxy.setCertificate('wrong-host')],
      ['a certificate that has expired', ({ proxy }) => proxy.setCertificate('expired')],
      ['a self-signed certificate', ({ proxy }) => proxy.setCertificate('self-signed')],
      [
        'plain HTTP instead of TLS',
        handleConnectionsWith((socket) => socket.end(`${WITH_LENGTH}${LISTING}`)),
      ],
    ],
    OVER_TLS,
  ),
];

/** The service stops sending, or nearly so, at each stage of a response. */
export const TIMEOUTS: readonly Fault[] = failWith('timeout', [
  ['silence within the TLS handshake', handleConnectionsWith((socket) => socket.resume()), OVER_TLS],
  ['silence before the header', injectSimulatorFault({ fault: 'silence' })],
  ['silence within the header', respondWith(HALF_A_HEADER)],
  ['silence after the header', respondWith(WITH_LENGTH)],
  ['silence within the body', injectSimulatorFault({ fault: 'silence_body' }), { ret: 0 }],
  ['silence before the last chunk', respondWith(WITH_CHUNKS, CHUNK), { ret: 0 }],
  [
    'a length that is too large',
    respondWith(formatHead(`content-length: ${LISTING.length + 1}`), LISTING),
    { ret: 0 },
  ],
  ['a drip of one byte a second', injectSimulatorFault({ fault: 'drip' })],
]);

/** The framing of the response violates HTTP. */
const FRAMING = [
  ...failWith(
    'reset',
    [
      ['a body that ends before its length', respondAndClose(WITH_LENGTH, LISTING.slice(0, -5))],
      ['a body that ends within a chunk', respondAndClose(WITH_CHUNKS, '40\r\n{"ret":0,')],
      ['a body that ends before the last chunk', respondAndClose(WITH_CHUNKS, CHUNK)],
    ],
    { ret: 'any' },
  ),
  ...failWith('not_json', [
    [
      'a length that is too small',
      respondWith(formatHead(`content-length: ${LISTING.length - 1}`), LISTING),
      { ret: 0, bytes: LISTING.length - 1 },
    ],
    ['a length that is not a number', respondWith(formatHead('content-length: all'), LISTING)],
    ['a chunk whose length is not a number', respondWith(WITH_CHUNKS, `xyz\r\n${LISTING}`)],
    ['two equal lengths', respondWith(formatHead(LENGTH, LENGTH), LISTING)],
    ['line feeds without carriage returns', respondWith(WITH_LENGTH.replaceAll('\r', ''), LISTING)],
    ['half a listing with valid framing', injectSimulatorFault({ fault: 'truncate' }), { ret: 0 }],
    ['something that is not HTTP', respondWith('SSH-2.0-OpenSSH_9.2p1\r\n')],
    ['the status 099', respondWith('HTTP/1.1 099 X\r\ncontent-length: 9\r\n\r\n{"ret":0}')],
  ]),
  ...failWith('too_large', [
    ['an endless header', respondEndlessly('HTTP/1.1 200 OK\r\nx-filling: ', Buffer.alloc(4096, 'x'))],
  ]),
];

/** The body cannot be decoded, or exceeds the limit after decoding. */
const ENCODINGS = [
  ...failWith('not_json', [
    ['plain text declared as gzip', injectSimulatorFault({ fault: 'bad_gzip' })],
    ['an early end of gzip', respondWithBody(gzipSync(LONG_LISTING).subarray(0, 60), GZIP), { ret: 'any' }],
    ['gzip with a wrong byte', respondWithBody(corruptByte(gzipSync(LISTING)), GZIP), { ret: 'any' }],
  ]),
  ...failWith('too_large', [
    ['a gzip bomb', respondWithBody(GZIP_BOMB, GZIP)],
    [
      'a body over the limit, with its length',
      respondEndlessly(formatHead(`content-length: ${MAX_RESPONSE_BYTES + 1}`), FILLING),
    ],
    [
      'a body over the limit, without its length',
      injectSimulatorFault({ fault: 'huge', bytes: 2 * MAX_RESPONSE_BYTES }),
    ],
    ['an endless body', injectSimulatorFault({ fault: 'huge' })],
  ]),
];

const IN_THREE_INTERVALS = (nowMs: number): string => new Date(nowMs + 3 * INTERVAL_MS).toUTCString();
const POLLS_IN_FIVE_MINUTES = 300_000 / INTERVAL_MS;

/** The status is not 2xx, or there is no content. */
const STATUSES = [
  ...failWith('http_status', [
    ['503 with JSON', injectSimulatorFault({ fault: 'http_status', status: 503 }), { ret: 503 }],
    ['503 with a listing', respondWithStatus(503, LISTING), { ret: 0, bytes: LISTING.length }],
    ['500 with an endless body', respondEndlessly('HTTP/1.1 500 No\r\n\r\n', FILLING), { bytes: 65_536 }],
    ['500 with a broken body', respondAndClose('HTTP/1.1 500 No\r\ncontent-length: 99\r\n\r\n{"ret":')],
    [
      '500 with a gzip bomb',
      respondWith(`HTTP/1.1 500 No\r\n${GZIP}\r\ncontent-length: ${GZIP_BOMB.length}\r\n\r\n`, GZIP_BOMB),
      { bytes: 65_536 },
    ],
    ['503 in an unknown encoding', respondWithStatus(503, LISTING, 'content-encoding: br')],
    ['endless 103', respondEndlessly('', Buffer.from('HTTP/1.1 103 Early Hints\r\n\r\n'.repeat(1000)))],
    ['a listing after five 102', respondWith(PROCESSING.repeat(5), WITH_LENGTH, LISTING)],
    ['100 before a listing', respondWith('HTTP/1.1 100 Continue\r\n\r\n', WITH_LENGTH, LISTING)],
    ['302 to elsewhere', injectSimulatorFault({ fault: 'redirect' }), { bytes: 0 }],
    ['304 with nothing', respondWith('HTTP/1.1 304 Not Modified\r\n\r\n'), { bytes: 0 }],
    ['429 with a pause in seconds', respondWithRetryAfter(429, () => '8'), { ret: 429, skippedPolls: 1 }],
    [
      '503 with a pause until a date',
      respondWithRetryAfter(503, IN_THREE_INTERVALS),
      { ret: 503, skippedPolls: 2 },
    ],
    [
      '429 with an absurd pause, which is cut to five minutes',
      respondWithRetryAfter(429, () => '99999999999999999999'),
      { ret: 429, skippedPolls: POLLS_IN_FIVE_MINUTES - 1 },
    ],
  ]),
  ...failWith('not_json', [
    ['204 with nothing', respondWith('HTTP/1.1 204 No Content\r\n\r\n'), { bytes: 0 }],
  ]),
];

/**
 * What the service says is no listing. The tests of fetchListing and of the reader have every form of that.
 */
const CONTENTS = [
  ...failWith('api_error', [
    ['a clock an hour ahead', injectSimulatorFault({ fault: 'clock_skew', ms: 3_600_000 }), { ret: 1004 }],
  ]),
  ...failWith('not_json', [
    ['an empty body, chunked and compressed', respondWith(formatHead(CHUNKED, GZIP), '0\r\n\r\n')],
    ['endless nesting', respondWithBody('['.repeat(500_000))],
  ]),
];

/** All but timeouts. */
export const FAULTS: readonly Fault[] = [...CONNECTIONS, ...FRAMING, ...ENCODINGS, ...STATUSES, ...CONTENTS];
