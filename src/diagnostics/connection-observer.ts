import { subscribe, unsubscribe } from 'node:diagnostics_channel';
import { Socket } from 'node:net';
import { TLSSocket } from 'node:tls';
import { z } from 'zod';
import type { Connection } from './observation.ts';

const beforeConnectMessage = z.object({ connectParams: z.object({ host: z.string() }) });
const sendHeadersMessage = z.object({
  request: z.object({ method: z.string() }),
  socket: z.instanceof(Socket),
});

/**
 * Observes the connections of undici through its diagnostics channels, the only source of the socket of a request.
 * The channels are global to the process, so only one request may run at a time.
 */
export class ConnectionObserver implements Disposable {
  readonly #host: string;
  readonly #onConnected: () => void;
  #proxy: string | undefined;
  #observed: Connection = {};

  /** @param baseUrl - of the service; a connection to any other host is to a proxy */
  constructor(baseUrl: string, onConnected: () => void) {
    this.#host = new URL(baseUrl).host;
    this.#onConnected = onConnected;
    subscribe('undici:client:beforeConnect', this.#onBeforeConnect);
    subscribe('undici:client:connected', this.#onConnected);
    subscribe('undici:client:sendHeaders', this.#onSendHeaders);
  }

  get connection(): Connection {
    return { ...this.#observed, ...(this.#proxy !== undefined && { proxy: this.#proxy }) };
  }

  [Symbol.dispose](): void {
    unsubscribe('undici:client:beforeConnect', this.#onBeforeConnect);
    unsubscribe('undici:client:connected', this.#onConnected);
    unsubscribe('undici:client:sendHeaders', this.#onSendHeaders);
  }

  readonly #onBeforeConnect = (message: unknown): void => {
    const { success, data } = beforeConnectMessage.safeParse(message);
    if (success && data.connectParams.host !== this.#host) this.#proxy = data.connectParams.host;
  };

  /** Reads the socket immediately: a closed one has no addresses and no certificate. */
  readonly #onSendHeaders = (message: unknown): void => {
    const { success, data } = sendHeadersMessage.safeParse(message);
    if (success && data.request.method === 'GET') this.#observed = describeSocket(data.socket);
  };
}

function describeSocket(socket: Socket): Connection {
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
