import assert from 'node:assert/strict';
import { test } from 'node:test';
import { gunzipSync } from 'node:zlib';
import { CATALOGUE } from '../../../src/metrics/catalogue.ts';
import { columnByLabel } from '../../../src/families/family.ts';
import { handle } from '../../../src/web/routes.ts';
import { parseExposition } from '../../support/exposition-parser.ts';
import { collected, createFakeFacade, createRequest } from './fake-facade.ts';

const OPTIONS = {};

function get(url: string, headers = {}) {
  return handle(createRequest({ url, headers }), createFakeFacade(), OPTIONS);
}

/** The service codes in a scrape, and whether it has the exporter's own metrics. */
async function scrapeParts(
  url: string,
): Promise<readonly [codes: readonly unknown[], hasOwnMetrics: boolean]> {
  const { status, body } = await get(url);
  assert.equal(status, 200);
  const { families } = parseExposition(String(body), 'text');
  const codes = families.get('xvs_up')?.samples.map(({ labels }) => labels['service_code']) ?? [];
  return [codes, families.has('xvs_exporter_config_last_reload_successful')];
}

const BOTH = ['A', 'ü&='];

const SELECTED: readonly (readonly [string, readonly string[], boolean])[] = [
  ['/metrics', BOTH, true],
  ['/metrics?other=1', BOTH, true],
  ['/-/metrics', [], true],
  ['/-/metrics?service_code=A', [], true],
  ['/metrics?service_code=A', ['A'], false],
  ['/metrics?service_code=%C3%BC%26%3D', ['ü&='], false],
];

for (const [url, codes, hasOwnMetrics] of SELECTED) {
  test(`${url} selects ${hasOwnMetrics ? 'own metrics' : 'no own metrics'} and [${codes.join(', ')}]`, async () => {
    assert.deepEqual(await scrapeParts(url), [codes, hasOwnMetrics]);
  });
}

test('a scrape is not rendered after its client disconnects', async () => {
  const signal = AbortSignal.abort(new Error('gone'));
  await assert.rejects(handle(createRequest({ url: '/metrics', signal }), createFakeFacade(), OPTIONS), {
    message: 'gone',
  });
});

for (const tasks of [0, 10, 10_000]) {
  for (const accept of ['text/plain', 'application/openmetrics-text']) {
    test(`${tasks} series in ${accept} are the same gzipped, in one member`, async () => {
      const samples = columnByLabel(Array.from({ length: tasks }, (_, n) => [`${n}`, n]));
      const facade = createFakeFacade({ collect: () => collected([{ spec: CATALOGUE.tasks, samples }]) });
      const [plain, gzipped] = await Promise.all(
        ['identity', 'gzip'].map(async (encoding) => {
          const headers = { accept, 'accept-encoding': encoding };
          return (await handle(createRequest({ url: '/metrics', headers }), facade, OPTIONS)).body;
        }),
      );
      assert.ok(plain !== undefined && gzipped !== undefined);
      const { families } = parseExposition(
        plain.toString(),
        accept.startsWith('text') ? 'text' : 'openmetrics',
      );
      assert.equal(families.get('xvs_tasks')?.samples.length ?? 0, tasks);
      assert.deepEqual(gunzipFirstMember(gzipped), plain);
    });
  }
}

/**
 * Decompresses one member of gzip, like clients that read a single one, and asserts that nothing follows it.
 */
function gunzipFirstMember(bytes: Buffer): Buffer {
  const { buffer, engine } = gunzipSync(bytes, { info: true }) as unknown as {
    buffer: Buffer;
    engine: { bytesWritten: number };
  };
  assert.equal(engine.bytesWritten, bytes.length);
  assert.equal(bytes.indexOf(bytes.subarray(0, 10), 1), -1);
  return buffer;
}
