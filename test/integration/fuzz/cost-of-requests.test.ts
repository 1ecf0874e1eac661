import assert from 'node:assert/strict';
import { Agent, request } from 'node:http';
import { test, type TestContext } from 'node:test';
import fc from 'fast-check';
import { handle } from '../../../src/web/routes.ts';
import { MAX_COST_RATIO, measureCostRatio } from '../../support/cost-ratio.ts';
import { createRunParameters } from '../../support/run-parameters.ts';
import { createFakeFacade } from '../../unit/web/fake-facade.ts';
import { readResponse, startSecuredServer } from '../../unit/web/secured-server.ts';

/** Node.js rejects longer request headers. */
const MAX_TARGET_LENGTH = 16 * 1024;

interface Request {
  readonly path: string;
  readonly query: string;
  readonly accept: string;
}

/** Starts a server, and returns what sends it a request and waits for the response. */
async function startServer(t: TestContext): Promise<(request: Request) => Promise<void>> {
  const { port } = await startSecuredServer(t, '', {
    handle: (received) => handle(received, createFakeFacade(), {}),
  });
  const agent = new Agent({ keepAlive: true });
  t.after(() => agent.destroy());
  return async ({ path, query, accept }) => {
    const headers = { host: 'exporter', accept, 'accept-encoding': accept };
    await readResponse(request({ agent, port, host: '127.0.0.1', path: `${path}?${query}`, headers }).end());
  };
}

const repeatTo = (length: number, piece: string): string =>
  piece.repeat(Math.ceil(length / piece.length)).slice(0, length);

/** A request of the same size, as browsers and Prometheus send it. */
function createOrdinary({ path, query, accept }: Request): Request {
  return {
    path,
    query: repeatTo(query.length, 'q=main&page=2&sort=tasks&'),
    accept: repeatTo(accept.length, 'text/plain;version=0.0.4;q=0.3,gzip,*/*;q=0.1,'),
  };
}

const repeated = (maxLength: number, ...pieces: readonly string[]): fc.Arbitrary<string> =>
  fc
    .tuple(fc.nat(maxLength), fc.array(fc.constantFrom(...pieces), { minLength: 1, maxLength: 4 }))
    .map(([length, chosen]) => repeatTo(length, chosen.join('')));

const arbitraryRequest: fc.Arbitrary<Request> = fc.record({
  path: fc.constantFrom(
    '/metrics',
    '/-/ready',
    '/',
    '/service-codes/',
    '/sd',
    '/other',
    'http://exporter/metrics',
  ),
  query: repeated(
    MAX_TARGET_LENGTH,
    '%ff&',
    '%',
    '&',
    '=',
    '%c3%a9',
    '+',
    '?',
    'a',
    'q=',
    'q=a:b,',
    'service_code=',
    ';',
  ),
  accept: repeated(4096, ',', ';', 'q=', '"', '*/*', ' ', 'a/b', ';q=0.1', '=', 'gzip'),
});

const KNOWN: readonly Request[] = [
  { path: '/-/ready', query: '%ff&'.repeat(4000), accept: '' },
  { path: '/metrics', query: '%ff&'.repeat(500), accept: 'a/b;q="'.repeat(140) },
];

test(`any request costs at most ${MAX_COST_RATIO} times an ordinary one of its size`, async (t) => {
  const answer = await startServer(t);
  const check = async (one: Request): Promise<void> => {
    const ordinary = createOrdinary(one);
    const ratio = await measureCostRatio(
      () => answer(one),
      () => answer(ordinary),
    );
    assert.ok(ratio <= MAX_COST_RATIO, `${ratio.toFixed(1)} times: ${JSON.stringify(one).slice(0, 200)}`);
  };
  for (const known of KNOWN) await check(known);
  await fc.assert(fc.asyncProperty(arbitraryRequest, check), createRunParameters(60));
});
