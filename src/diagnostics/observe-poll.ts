import type { Socket } from 'node:net';
import { TLSSocket } from 'node:tls';
import type { ReaderPool } from '../listing/reader.ts';
import { fetchListing, type FailedListing, type GoodListing } from '../poller/fetch-listing.ts';
import { formatHostPort } from '../runtime/host-port.ts';
import type { Clock } from '../runtime/clock.ts';
import { type ClientOptions, type ListingTarget, UpstreamClient } from '../upstream/client.ts';
import type { RedactedRequest } from '../upstream/request-observer.ts';
import { TaskNameFinder, type NamesOfSource } from './task-names.ts';

export interface Observation {
  readonly target: ListingTarget;
  readonly fetched: GoodListing | FailedListing;
  /** The last request that was signed. */
  readonly request: RedactedRequest | undefined;
  /** Whether its connection was made, through a proxy too: a request is signed before. */
  readonly isRequestSent: boolean;
  /** As far as it was made. */
  readonly connection: {
    /** Host and port of a proxy. */
    readonly proxy?: string;
    /** Address, family, port and TLS version of the server or proxy. */
    readonly peer?: string;
  };
  readonly compressedBytes: number;
  /** Milliseconds since the start of the poll; `undefined` for stages that it did not reach. */
  readonly times: {
    readonly connectedMs: number | undefined;
    readonly firstByteMs: number | undefined;
    readonly totalMs: number;
  };
  /** Undefined after a poll that failed, or if the names could not be found. */
  readonly taskNames: readonly NamesOfSource[] | undefined;
}

interface ObserveDependencies {
  readonly clientOptions: ClientOptions;
  readonly readers: ReaderPool;
  readonly clock: Clock;
  readonly signal: AbortSignal;
}

/** Polls once, on a connection of its own, and records the exchange. */
export async function observePoll(
  target: ListingTarget,
  { clientOptions, readers, clock, signal }: ObserveDependencies,
): Promise<Observation> {
  const names = new TaskNameFinder();
  const startedMs = clock.monotonic();
  const elapsedMs = (): number => clock.monotonic() - startedMs;
  let request: RedactedRequest | undefined;
  let connectedMs: number | undefined;
  let firstByteMs: number | undefined;
  let compressedBytes = 0;
  /** Connections that are being made; one through a proxy needs another, to the proxy. */
  let connecting = 0;
  let connection: Observation['connection'] = {};
  const { host: serviceHost } = new URL(target.baseUrl);
  const observer: ClientOptions['observer'] = {
    onConnecting: (host) => {
      connecting += 1;
      if (host !== serviceHost) connection = { proxy: host };
    },
    onConnected: (socket) => {
      connecting -= 1;
      connectedMs = elapsedMs();
      connection = { ...connection, peer: describePeer(socket) };
    },
  };
  await using client = new UpstreamClient({ ...clientOptions, observer, clock });
  const fetched = await fetchListing(client, target, readers, undefined, signal, {
    onRequest: (signed) => {
      connecting = 0;
      request = signed;
    },
    onResponse: () => {
      firstByteMs = elapsedMs();
    },
    onBodyBytes: (bytes) => {
      compressedBytes += bytes;
    },
    onChunk: (chunk) => names.addChunk(chunk),
  });
  return {
    target,
    fetched,
    request,
    isRequestSent: connectedMs !== undefined && connecting === 0,
    connection,
    compressedBytes,
    times: { connectedMs, firstByteMs, totalMs: elapsedMs() },
    taskNames: fetched.error === undefined ? names.find() : undefined,
  };
}

function describePeer(socket: Socket): string {
  const { remoteAddress = '', remoteFamily = 'unknown family', remotePort = 0 } = socket;
  return `${formatHostPort(remoteAddress, remotePort)} (${remoteFamily}), ${describeTls(socket)}`;
}

/** With NODE_TLS_REJECT_UNAUTHORIZED=0, connections go on whatever the certificate is. */
function describeTls(socket: Socket): string {
  if (!(socket instanceof TLSSocket)) return 'no TLS';
  const protocol = socket.getProtocol() ?? 'TLS';
  return socket.authorized
    ? protocol
    : `${protocol}, certificate not verified (${String(socket.authorizationError)})`;
}
