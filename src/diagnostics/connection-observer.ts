import { subscribe, unsubscribe } from 'node:diagnostics_channel';
import { Socket } from 'node:net';
import { TLSSocket } from 'node:tls';
import { z } from 'zod';

/** The connection that a request was sent on, as far as it was made. */
export interface ObservedConnection {
  /** Host and port of a proxy. */
  readonly proxy?: string;
  /** Address, family, port and TLS version of the server or proxy. */
  readonly peer?: string;
}

const beforeConnectMessage = z.object({ connectParams: z.object({ host: z.string() }) });
const sendHeadersMessage = z.object({
  request: z.object({ method: z.string() }),
  socket: z.instanceof(Socket),
});

export interface ConnectionObserver extends Disposable {
  readonly connection: ObservedConnection;
}

/**
 * Observes connections through the diagnostics channels of undici, the only source of a request's socket.
 * They are global to the process, so only one request may run at a time. A connection to a host
 * other than that of `baseUrl` is to a proxy.
 */
export function observeConnection(baseUrl: string, onConnected: () => void): ConnectionObserver {
  const serviceHost = new URL(baseUrl).host;
  let connection: ObservedConnection = {};
  const listeners = {
    'undici:client:beforeConnect': (message: unknown): void => {
      const { success, data } = beforeConnectMessage.safeParse(message);
      if (success && data.connectParams.host !== serviceHost)
        connection = { ...connection, proxy: data.connectParams.host };
    },
    'undici:client:connected': onConnected,
    'undici:client:sendHeaders': (message: unknown): void => {
      const { success, data } = sendHeadersMessage.safeParse(message);
      // Described immediately: a closed socket has no addresses.
      if (success && data.request.method === 'GET')
        connection = { ...connection, peer: describePeer(data.socket) };
    },
  };
  for (const [channel, listener] of Object.entries(listeners)) subscribe(channel, listener);
  return {
    get connection() {
      return connection;
    },
    [Symbol.dispose]: () => {
      for (const [channel, listener] of Object.entries(listeners)) unsubscribe(channel, listener);
    },
  };
}

function describePeer(socket: Socket): string {
  const { remoteAddress = '', remoteFamily = 'unknown family', remotePort = '' } = socket;
  const host = remoteFamily === 'IPv6' ? `[${remoteAddress}]` : remoteAddress;
  const tls = socket instanceof TLSSocket ? (socket.getProtocol() ?? 'TLS') : 'no TLS';
  return `${host}:${remotePort} (${remoteFamily}), ${tls}`;
}
