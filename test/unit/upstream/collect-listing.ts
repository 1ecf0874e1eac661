import assert from 'node:assert/strict';
import type { TestContext } from 'node:test';
import { systemClock, type Clock } from '../../../src/runtime/clock.ts';
import { type ClientOptions, type ListingTarget, UpstreamClient } from '../../../src/upstream/client.ts';
import { type PollErrorReason, UpstreamError } from '../../../src/upstream/errors.ts';
import type { ResponseHead } from '../../../src/upstream/request-observer.ts';
import type { ResolverOptions } from '../../../src/upstream/resolver.ts';
import { PUBLISHED_SCHEME } from '../../support/published-scheme.ts';

/** A clock at the time of the published test vector. */
export const CLOCK: Clock = {
  now: () => 1443494296533,
  monotonic: () => 0,
  sleep: (ms, signal) => systemClock.sleep(ms, signal),
};

/** Timeouts that only end requests of tests that shorten them. */
export const OPTIONS: ClientOptions = {
  timeoutMs: 3_600_000,
  maxResponseBytes: 64 * 1024 * 1024,
  maxConnections: 4,
  userAgent: 'xvs-exporter/test',
  tls: {},
  proxy: {},
};

/** Opens a client that is closed after the test. */
export function openClient(
  t: TestContext,
  options: Partial<ClientOptions & Pick<ResolverOptions, 'lookup'>> = {},
  clock: Clock = CLOCK,
): UpstreamClient {
  const client = new UpstreamClient({ ...OPTIONS, ...options, clock });
  t.after(() => client[Symbol.asyncDispose]());
  return client;
}

export function targetAt(baseUrl: string, more: Partial<ListingTarget> = {}): ListingTarget {
  return {
    serviceCode: 'TESTING',
    baseUrl,
    secret: 'abc',
    signing: PUBLISHED_SCHEME,
    timeoutMs: 3_600_000,
    ...more,
  };
}

export interface CollectedListing extends ResponseHead {
  readonly body: Buffer;
}

/** Requests a listing and collects its body. */
export async function collectListing(
  client: UpstreamClient,
  target: ListingTarget,
): Promise<CollectedListing> {
  const chunks: Uint8Array[] = [];
  const collect = (chunk: Uint8Array): void => {
    chunks.push(chunk);
  };
  const response = await client.requestListing(target, collect, new AbortController().signal);
  return { ...response, body: Buffer.concat(chunks) };
}

/** Asserts that a request fails for a reason, and that the error contains no secret, signature or query. */
export async function assertFailsWith(
  request: Promise<unknown>,
  reason: PollErrorReason,
): Promise<UpstreamError> {
  const error: unknown = await request.then(
    () => assert.fail(`expected ${reason}, found a response`),
    (rejected: unknown) => rejected,
  );
  assert.ok(error instanceof UpstreamError, String(error));
  assert.equal(error.reason, reason, `${error.message}: ${String(error.cause)}`);
  assert.doesNotMatch(`${error.message} ${String(error.cause)}`, /abc|c576f321|TESTING|xvs-/);
  return error;
}
