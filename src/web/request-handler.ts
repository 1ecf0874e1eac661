import type { IncomingMessage, ServerResponse } from 'node:http';
import { TLSSocket } from 'node:tls';
import type { Clock } from '../clock.ts';
import type { Logger } from '../log.ts';
import type { WebConfigurationSource } from './config/web-configuration-source.ts';
import type { Door } from './door.ts';
import type { Guard } from './guard.ts';
import { respondText } from './response.ts';
import type { WebResponse } from './response.ts';
import { isProbe } from './routes.ts';
import type { WebRequest } from './routes.ts';

/** How long an answer may take on its way, however slowly the client reads: so long it is held in memory. */
const ANSWER_TIMEOUT_MS = 60_000;
/**
 * Bytes of answers that may be on their way at a time, in memory: beyond it, all but one get a 503. An answer to a client
 * that reads is gone in a moment.
 */
const MAX_BYTES_ON_THEIR_WAY = 128 * 1024 * 1024;

export interface AnsweringOptions {
  readonly handle: (request: WebRequest) => Promise<WebResponse>;
  /** Requests at a time; beyond it they get 503, probes excepted. */
  readonly maxRequests: number;
  /** How the server guards itself: TLS, who may ask, and how often. */
  readonly guardedBy: WebConfigurationSource;
  readonly clock: Clock;
  readonly logger: Logger;
}

/** Answers requests: those that the guard lets in by the handler, and no more at a time than is good. */
export class Answering {
  readonly #options: AnsweringOptions;
  readonly #door: Door;
  readonly #guard: Guard;
  #requests = 0;
  #bytesOnTheirWay = 0;
  #isClosing = false;

  constructor(options: AnsweringOptions, door: Door, guard: Guard) {
    this.#options = options;
    this.#door = door;
    this.#guard = guard;
  }

  /** Answers in its time. */
  start({ method = 'GET', url = '/', headers, socket }: IncomingMessage, response: ServerResponse): void {
    const controller = new AbortController();
    const scheme = socket instanceof TLSSocket ? 'https' : 'http';
    // Comes once: after the last byte, or when the client has gone.
    response.once('close', () => controller.abort());
    const { signal } = controller;
    void this.#answer({ method, url, headers, scheme, signal }, response, signal);
  }

  /** From now on answers tell clients not to use their connection again. */
  announceClose(): void {
    this.#isClosing = true;
  }

  /** Never rejects. */
  async #answer(request: WebRequest, response: ServerResponse, signal: AbortSignal): Promise<void> {
    const configuration = await this.#options.guardedBy.latest();
    const send = (answer: WebResponse): void => this.#send(answer, response, signal, configuration.headers);
    try {
      const isStranger = this.#door.isStranger(response.req.socket);
      const visit = { url: request.url, authorization: request.headers.authorization, isStranger, signal };
      const refusal = await this.#guard.refuse(visit, configuration);
      if (signal.aborted) return;
      const answer = refusal ?? (await this.#admitted(request, response));
      if (!signal.aborted) send(answer);
    } catch (err) {
      if (signal.aborted) return;
      this.#options.logger.error({ err, method: request.method, url: request.url }, 'Request failed');
      send(respondText(500, 'Internal server error.'));
    }
  }

  /** What the guard refuses comes not so far: who may not ask keeps no one from asking. */
  async #admitted(request: WebRequest, response: ServerResponse): Promise<WebResponse> {
    this.#requests += 1;
    response.once('close', () => (this.#requests -= 1));
    if (this.#requests > this.#options.maxRequests && !isProbe(request.url))
      return respondText(503, 'Too many requests at a time.');
    const answer = await this.#options.handle(request);
    // Closed already, it would never be counted out again.
    if (response.closed) return answer;
    const bytes = Buffer.byteLength(answer.body);
    if (this.#bytesOnTheirWay > 0 && this.#bytesOnTheirWay + bytes > MAX_BYTES_ON_THEIR_WAY)
      return respondText(503, 'Too many clients read their answers too slowly.');
    this.#bytesOnTheirWay += bytes;
    response.once('close', () => (this.#bytesOnTheirWay -= bytes));
    return answer;
  }

  /** Headers of the web configuration stand over those of the answer: they are what someone asked for. */
  #send(
    { status, headers, body }: WebResponse,
    response: ServerResponse,
    signal: AbortSignal,
    more: WebResponse['headers'],
  ): void {
    // So that the client does not use a connection again that is about to go, or that has a body to be read first.
    if (this.#isClosing || hasBody(response.req)) response.setHeader('Connection', 'close');
    response.writeHead(status, { ...headers, ...more }).end(body);
    this.#options.clock.sleep(ANSWER_TIMEOUT_MS, signal).then(
      () => response.destroy(),
      () => undefined,
    );
  }
}

function hasBody({ headers }: IncomingMessage): boolean {
  return headers['transfer-encoding'] !== undefined || Number(headers['content-length'] ?? 0) !== 0;
}
