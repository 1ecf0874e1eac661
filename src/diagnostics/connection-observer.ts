import { subscribe, unsubscribe } from 'node:diagnostics_channel';
import { Socket } from 'node:net';
import { TLSSocket } from 'node:tls';
import { z } from 'zod';
import type { ObservedConnection } from './observation.ts';

const beforeConnectMessage = z.object({ connectParams: z.object({ host: z.string() }) });
const sendHeadersMessage = z.object({
  request: z.object({ method: z.string() }),
  socket: z.instanceof(Socket),
});

/** What is known of a connection, until the disposal. */
export interface ConnectionObserver extends Disposable {
  readonly connection: ObservedConnection;
}

/**
 * Observes the connections of undici through its diagnostics channels, the only source of the socket of a request.
 * The channels are global to the process, so only one request may run at a time.
 *
 * @param baseUrl - of the service; a connection to any other host is to a proxy
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
      // Described immediately: a closed socket has no addresses and no certificate.
      if (success && data.request.method === 'GET')
        connection = { ...connection, ...describeSocket(data.socket) };
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

function describeSocket(socket: Socket): ObservedConnection {
  const { remoteAddress, remoteFamily, remotePort } = socket;
  const address = remoteFamily === 'IPv6' ? `[${remoteAddress ?? ''}]` : remoteAddress;
  return {
    ...(remoteAddress !== undefined && {
      peer: `${address ?? ''}:${remotePort ?? ''} (${remoteFamily ?? 'unknown family'})`,
    }),
    ...(socket instanceof TLSSocket && {
      tls: {
        version: socket.getProtocol() ?? 'unknown version',
        validUntilMs: parseCertificateDate(socket.getPeerCertificate().valid_to),
      },
    }),
  };
}

/** @param text - `Jan  1 00:00:00 2036 GMT`; undefined if the socket has no certificate */
function parseCertificateDate(text: string | undefined): number | undefined {
  const ms = Date.parse(text ?? '');
  return Number.isNaN(ms) ? undefined : ms;
}
