import type { Socket } from 'node:net';
import { gzipSync } from 'node:zlib';
import {
  respondSlowly,
  formatHead,
  respondWith,
  respondAndClose,
  respondAndReset,
  injectSimulatorFault,
  type FaultAction,
} from '../fault-actions.ts';
import type { Fault } from './fault.ts';
import { LISTING, LONG_LISTING, CHUNKED_HEADER, GZIP_HEADER, LENGTH_HEADER } from './listing.ts';

/** The connection fails or breaks. */
export const CONNECTIONS: readonly Fault[] = [
  { name: 'a refused connection', make: ({ proxy }) => proxy.close(), reason: 'connect' },
  {
    name: 'a connection that is closed immediately',
    make: handleConnectionsWith((socket) => socket.destroy()),
    reason: 'reset',
  },
  {
    name: 'no answer, but a closed connection',
    make: injectSimulatorFault({ fault: 'refuse' }),
    reason: 'reset',
  },
  {
    name: 'a reset before the header',
    make: injectSimulatorFault({ fault: 'reset_headers' }),
    reason: 'reset',
  },
  {
    name: 'a reset within the header',
    make: respondAndReset('HTTP/1.1 200 OK\r\ncontent-ty'),
    reason: 'reset',
  },
  {
    name: 'a close within the header',
    make: respondAndClose('HTTP/1.1 200 OK\r\ncontent-ty'),
    reason: 'reset',
  },
  { name: 'a reset after the header', make: respondAndReset(formatHead(LENGTH_HEADER)), reason: 'reset' },
  {
    name: 'a reset within the body',
    make: injectSimulatorFault({ fault: 'reset_body' }),
    reason: 'reset',
    ret: 'any',
  },
  {
    name: 'a reset within a compressed body',
    make: respondAndReset(
      formatHead(CHUNKED_HEADER, GZIP_HEADER),
      '5\r\n',
      gzipSync(LONG_LISTING).subarray(0, 5),
      '\r\n',
    ),
    reason: 'reset',
  },
  {
    name: 'a name that does not exist',
    faultyCode: 'NAMED',
    make: ({ resolver, proxy }) => {
      // An open connection needs no name resolution.
      proxy.closeConnections();
      if (resolver !== undefined) resolver.isKnown = false;
    },
    reason: 'dns',
  },
  {
    name: 'a certificate of another host',
    faultyCode: 'SECURE',
    make: ({ proxy }) => proxy.setCertificate('wrong-host'),
    reason: 'tls',
  },
  {
    name: 'a certificate that has expired',
    faultyCode: 'SECURE',
    make: ({ proxy }) => proxy.setCertificate('expired'),
    reason: 'tls',
  },
  {
    name: 'a self-signed certificate',
    faultyCode: 'SECURE',
    make: ({ proxy }) => proxy.setCertificate('self-signed'),
    reason: 'tls',
  },
  {
    name: 'plain HTTP instead of TLS',
    faultyCode: 'SECURE',
    make: handleConnectionsWith((socket) => socket.end(`${formatHead(LENGTH_HEADER)}${LISTING}`)),
    reason: 'tls',
  },
  {
    name: 'a reset within the TLS handshake',
    faultyCode: 'SECURE',
    make: handleConnectionsWith((socket) => socket.once('data', () => socket.resetAndDestroy())),
    reason: 'reset',
  },
  {
    name: 'silence within the TLS handshake',
    faultyCode: 'SECURE',
    make: handleConnectionsWith((socket) => socket.resume()),
    reason: 'timeout',
  },
  {
    name: 'a close within the body, over TLS',
    faultyCode: 'SECURE',
    make: respondAndClose(formatHead(LENGTH_HEADER), '{"ret":0,'),
    reason: 'reset',
    ret: 'any',
  },
];

/** The service stops sending, or nearly so, at each stage of a response. */
export const TIMEOUTS: readonly Fault[] = [
  { name: 'silence before the header', make: injectSimulatorFault({ fault: 'silence' }), reason: 'timeout' },
  {
    name: 'silence within the header',
    make: respondWith('HTTP/1.1 200 OK\r\ncontent-ty'),
    reason: 'timeout',
  },
  { name: 'silence after the header', make: respondWith(formatHead(LENGTH_HEADER)), reason: 'timeout' },
  {
    name: 'silence within the body',
    make: injectSimulatorFault({ fault: 'silence_body' }),
    reason: 'timeout',
    ret: 0,
  },
  {
    name: 'silence before the last chunk',
    make: respondWith(formatHead(CHUNKED_HEADER), `${LISTING.length.toString(16)}\r\n${LISTING}\r\n`),
    reason: 'timeout',
    ret: 0,
  },
  { name: 'a drip of one byte a second', make: injectSimulatorFault({ fault: 'drip' }), reason: 'timeout' },
  {
    name: 'a drip of fifty bytes a second',
    make: respondSlowly(formatHead('content-length: 1000000'), 20),
    reason: 'timeout',
  },
];

function handleConnectionsWith(accept: (socket: Socket) => void): FaultAction {
  return ({ proxy }) => {
    proxy.onConnection = accept;
    proxy.closeConnections();
  };
}
