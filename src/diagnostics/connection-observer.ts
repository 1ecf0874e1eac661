import { subscribe, unsubscribe } from 'node:diagnostics_channel';
import { Socket } from 'node:net';
import { TLSSocket } from 'node:tls';
import { z } from 'zod';
import type { Connection } from './observation.ts';

const connecting = z.object({ connectParams: z.object({ host: z.string() }) });
const sending = z.object({ request: z.object({ method: z.string() }), socket: z.instanceof(Socket) });

/**
 * Watches the connections that undici makes in this process, by its diagnostics channels: they alone tell of the
 * socket that a request is sent on. For one request at a time.
 */
export class ConnectionWatch implements Disposable {
  readonly #host: string;
  readonly #onConnected: () => void;
  #proxy: string | undefined;
  #described: Connection = {};

  /** @param baseUrl - of the service: what else is connected to is a proxy */
  constructor(baseUrl: string, onConnected: () => void) {
    this.#host = new URL(baseUrl).host;
    this.#onConnected = onConnected;
    subscribe('undici:client:beforeConnect', this.#connecting);
    subscribe('undici:client:connected', this.#onConnected);
    subscribe('undici:client:sendHeaders', this.#sending);
  }

  get connection(): Connection {
    return { ...this.#described, ...(this.#proxy !== undefined && { proxy: this.#proxy }) };
  }

  [Symbol.dispose](): void {
    unsubscribe('undici:client:beforeConnect', this.#connecting);
    unsubscribe('undici:client:connected', this.#onConnected);
    unsubscribe('undici:client:sendHeaders', this.#sending);
  }

  readonly #connecting = (message: unknown): void => {
    const { success, data } = connecting.safeParse(message);
    if (success && data.connectParams.host !== this.#host) this.#proxy = data.connectParams.host;
  };

  /** What a socket says of itself is gone once it is closed. */
  readonly #sending = (message: unknown): void => {
    const { success, data } = sending.safeParse(message);
    if (success && data.request.method === 'GET') this.#described = describe(data.socket);
  };
}

function describe(socket: Socket): Connection {
  const { remoteAddress, remoteFamily, remotePort } = socket;
  const address = remoteFamily === 'IPv6' ? `[${remoteAddress ?? ''}]` : remoteAddress;
  return {
    ...(remoteAddress !== undefined && {
      peer: `${address ?? ''}:${remotePort ?? ''} (${remoteFamily ?? 'unknown family'})`,
    }),
    ...(socket instanceof TLSSocket && {
      tls: {
        version: socket.getProtocol() ?? 'unknown version',
        validUntilMs: timeOf(socket.getPeerCertificate().valid_to),
      },
    }),
  };
}

/** `Jan  1 00:00:00 2036 GMT`; a socket that has no certificate any more says nothing. */
function timeOf(text: string | undefined): number | undefined {
  const ms = Date.parse(text ?? '');
  return Number.isNaN(ms) ? undefined : ms;
}
