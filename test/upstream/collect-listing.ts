import assert from 'node:assert/strict';
import type { TestContext } from 'node:test';

import type { Clock } from '../../src/clock.ts';
import {
  type ClientOptions,
  type ListingResponse,
  type ListingTarget,
  UpstreamClient,
} from '../../src/upstream/client.ts';
import { type PollErrorReason, UpstreamError } from '../../src/upstream/errors.ts';
import { PUBLISHED_SCHEME } from '../support/published-scheme.ts';

/** The moment of the published vector. */
export const CLOCK: Clock = {
  now: () => 1443494296533,
  monotonic: () => 0,
  sleep: () => Promise.reject(new Error('nothing in the upstream sleeps')),
};

/** Timeouts long enough that only a test that shortens one meets it. */
const OPTIONS: ClientOptions = {
  connectTimeoutMs: 20_000,
  headersTimeoutMs: 20_000,
  idleTimeoutMs: 20_000,
  maxResponseBytes: 64 * 1024 * 1024,
  maxConnections: 4,
  userAgent: 'xvs-exporter/test',
  tls: {},
  proxy: {},
};

/** A client that is closed after the test. */
export function openClient(t: TestContext, options: Partial<ClientOptions> = {}): UpstreamClient {
  const client = new UpstreamClient({ ...OPTIONS, ...options, clock: CLOCK });
  t.after(() => client[Symbol.asyncDispose]());
  return client;
}

export function targetAt(baseUrl: string, more: Partial<ListingTarget> = {}): ListingTarget {
  return {
    serviceCode: 'TESTING',
    baseUrl,
    secret: 'abc',
    signing: PUBLISHED_SCHEME,
    timeoutMs: 20_000,
    ...more,
  };
}

export interface Listing extends ListingResponse {
  readonly body: Buffer;
}

/** Asks for a listing and gathers its body. */
export async function ask(client: UpstreamClient, target: ListingTarget): Promise<Listing> {
  const chunks: Uint8Array[] = [];
  const gather = (chunk: Uint8Array): void => {
    chunks.push(chunk);
  };
  const response = await client.requestListing(target, gather, new AbortController().signal);
  return { ...response, body: Buffer.concat(chunks) };
}

/** Expects a request to fail for a reason; no part of the error may tell the secret, the signature or the query. */
export async function failsWith(asked: Promise<unknown>, reason: PollErrorReason): Promise<UpstreamError> {
  const error: unknown = await asked.then(
    () => assert.fail(`expected ${reason}, found an answer`),
    (rejected: unknown) => rejected,
  );
  assert.ok(error instanceof UpstreamError, String(error));
  assert.equal(error.reason, reason, `${error.message}: ${String(error.cause)}`);
  assert.doesNotMatch(`${error.message} ${String(error.cause)}`, /abc|c576f321|TESTING|xvs-/);
  return error;
}

/** A promise and what resolves it; `Promise.withResolvers` comes with Node 22. */
export function deferred<T>(): { readonly promise: Promise<T>; readonly resolve: (value: T) => void } {
  const resolvers: ((value: T) => void)[] = [];
  const promise = new Promise<T>((resolve) => {
    resolvers.push(resolve);
  });
  return {
    promise,
    resolve: (value) => {
      for (const resolve of resolvers) {
        resolve(value);
      }
    },
  };
}
