import type { Socket } from 'node:net';
import { gzipSync } from 'node:zlib';
import { drips, head, says, saysAndEnds, saysAndResets, simulated, type Break } from '../breaking.ts';
import type { Fault } from './fault.ts';
import { LISTING, LONG, CHUNKED, GZIP, LENGTH } from './listing.ts';

/** The connection cannot be made, or breaks. */
export const CONNECTIONS: readonly Fault[] = [
  { name: 'a refused connection', make: ({ front }) => front.close(), reason: 'connect' },
  {
    name: 'a connection that is closed at once',
    make: accepts((socket) => socket.destroy()),
    reason: 'reset',
  },
  { name: 'no answer, but a closed connection', make: simulated({ fault: 'refuse' }), reason: 'reset' },
  { name: 'a reset before the header', make: simulated({ fault: 'reset_headers' }), reason: 'reset' },
  {
    name: 'a reset within the header',
    make: saysAndResets('HTTP/1.1 200 OK\r\ncontent-ty'),
    reason: 'reset',
  },
  { name: 'a close within the header', make: saysAndEnds('HTTP/1.1 200 OK\r\ncontent-ty'), reason: 'reset' },
  { name: 'a reset after the header', make: saysAndResets(head(LENGTH)), reason: 'reset' },
  { name: 'a reset within the body', make: simulated({ fault: 'reset_body' }), reason: 'reset', ret: 'any' },
  {
    name: 'a reset within a compressed body',
    make: saysAndResets(head(CHUNKED, GZIP), '5\r\n', gzipSync(LONG).subarray(0, 5), '\r\n'),
    reason: 'reset',
  },
  { name: 'a name that does not exist', via: 'NAMED', make: resolution('unknown'), reason: 'dns' },
  { name: 'a resolver that fails', via: 'NAMED', make: resolution('try_again'), reason: 'dns' },
  { name: 'a resolver that is silent', via: 'NAMED', make: resolution('silence'), reason: 'timeout' },
  {
    name: 'a certificate of another host',
    via: 'SECURE',
    make: ({ front }) => front.present('wrong-host'),
    reason: 'tls',
  },
  {
    name: 'a certificate that has expired',
    via: 'SECURE',
    make: ({ front }) => front.present('expired'),
    reason: 'tls',
  },
  {
    name: 'a certificate that vouches for itself',
    via: 'SECURE',
    make: ({ front }) => front.present('self-signed'),
    reason: 'tls',
  },
  {
    name: 'plain HTTP where TLS is spoken',
    via: 'SECURE',
    make: accepts((socket) => socket.end(`${head(LENGTH)}${LISTING}`)),
    reason: 'tls',
  },
  {
    name: 'a reset within the TLS handshake',
    via: 'SECURE',
    make: accepts((socket) => socket.once('data', () => socket.resetAndDestroy())),
    reason: 'reset',
  },
  {
    name: 'silence in the TLS handshake',
    via: 'SECURE',
    make: accepts((socket) => socket.resume()),
    reason: 'timeout',
  },
  {
    name: 'a close within the body, over TLS',
    via: 'SECURE',
    make: saysAndEnds(head(LENGTH), '{"ret":0,'),
    reason: 'reset',
    ret: 'any',
  },
];

/** The service is silent, or nearly so, at each stage. */
export const SILENCE: readonly Fault[] = [
  { name: 'silence before the header', make: simulated({ fault: 'silence' }), reason: 'timeout' },
  { name: 'silence within the header', make: says('HTTP/1.1 200 OK\r\ncontent-ty'), reason: 'timeout' },
  { name: 'silence after the header', make: says(head(LENGTH)), reason: 'timeout' },
  { name: 'silence within the body', make: simulated({ fault: 'silence_body' }), reason: 'timeout', ret: 0 },
  {
    name: 'silence before the last chunk',
    make: says(head(CHUNKED), `${LISTING.length.toString(16)}\r\n${LISTING}\r\n`),
    reason: 'timeout',
    ret: 0,
  },
  { name: 'a drip of one byte a second', make: simulated({ fault: 'drip' }), reason: 'timeout' },
  {
    name: 'a drip of fifty bytes a second',
    make: drips(head('content-length: 1000000'), 20),
    reason: 'timeout',
  },
];

function resolution(does: 'unknown' | 'try_again' | 'silence'): Break {
  return ({ resolver, front }) => {
    // A connection that stands needs no name.
    front.drop();
    if (resolver !== undefined) resolver.does = does;
  };
}

function accepts(accept: (socket: Socket) => void): Break {
  return ({ front }) => {
    front.accept = accept;
    front.drop();
  };
}
