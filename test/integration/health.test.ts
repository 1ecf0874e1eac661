import assert from 'node:assert/strict';
import { test } from 'node:test';
import { startApp } from '../../src/app.ts';
import { ConfigurationSource } from '../../src/config/configuration-source.ts';
import { createLogger } from '../../src/runtime/logger.ts';
import { BUILD } from '../support/build-info.ts';
import { REQUIRED_ENVIRONMENT, NO_FILES, failHostNameLookup } from '../support/configuration.ts';
import { SuspendableClock } from '../support/manual-clock.ts';
import { waitUntil } from '../support/wait-until.ts';

const NO_SERVICE = 'http://127.0.0.1:1';

test('the exporter is healthy while the service is down, and unhealthy when a poll loop is stuck', async () => {
  const clock = new SuspendableClock(Date.UTC(2026, 0, 1));
  const lines: string[] = [];
  const destination = { write: (line: string) => lines.push(line) };
  const logger = createLogger({ level: 'info', format: 'json', destination });
  const source = new ConfigurationSource({
    flags: new Map([['web.listen_address', '127.0.0.1:0']]),
    env: { ...REQUIRED_ENVIRONMENT, XVS_UPSTREAM_BASE_URL: NO_SERVICE },
    hostName: failHostNameLookup,
    ...NO_FILES,
  });
  const { configuration } = await source.load();
  await using app = await startApp(configuration, { clock, logger, build: BUILD, source });
  const health = async (): Promise<number> => {
    const response = await fetch(`http://127.0.0.1:${app.addresses[0]?.port}/-/healthy`);
    await response.arrayBuffer();
    return response.status;
  };
  const still = (): readonly string[] => lines.filter((line) => line.includes('Poll loop is stuck'));
  clock.advance(0);
  await waitUntil(
    () => lines,
    (all) => all.some((line) => line.includes('Poll failed')),
  );
  assert.equal(await health(), 200);

  clock.suspend(15_000 + 60_000 + 1);
  assert.deepEqual([await health(), await health()], [503, 503]);
  assert.deepEqual(still().length, 1);
  assert.match(still()[0] ?? '', /"level":"error".*"service_codes":\["TESTING"\]/);

  clock.resume();
  assert.equal(await health(), 200);
  assert.equal(still().length, 1);
});
