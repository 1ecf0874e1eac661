import assert from 'node:assert/strict';
import { test } from 'node:test';
import { startApp } from '../../src/app.ts';
import { ConfigurationSource } from '../../src/config/configuration-source.ts';
import { createLogger } from '../../src/log.ts';
import { NEEDED, NO_FILES } from '../support/configuration.ts';
import { SuspendableClock } from '../support/suspendable-clock.ts';
import { until } from '../support/until.ts';
import { noHostName } from '../support/no-host-name.ts';

const BUILD = { version: '0.0.0', revision: 'test', nodeVersion: process.version };
const NO_SERVICE = 'http://127.0.0.1:1';

test('the exporter is healthy while the service is down, and is not when its polls stand still', async () => {
  const clock = new SuspendableClock(Date.UTC(2026, 0, 1));
  const lines: string[] = [];
  const destination = { write: (line: string) => lines.push(line) };
  const logger = createLogger({ level: 'info', format: 'json', destination });
  const source = new ConfigurationSource({
    flags: new Map([['web.listen_address', '127.0.0.1:0']]),
    env: { ...NEEDED, XVS_UPSTREAM_BASE_URL: NO_SERVICE },
    hostName: noHostName,
    ...NO_FILES,
  });
  const { configuration } = await source.load();
  await using app = await startApp(configuration, { clock, logger, build: BUILD, source });
  const health = async (): Promise<number> => {
    const response = await fetch(`http://127.0.0.1:${app.addresses[0]?.port}/-/healthy`);
    await response.arrayBuffer();
    return response.status;
  };
  const still = (): readonly string[] => lines.filter((line) => line.includes('Polls stand still'));
  clock.advance(0);
  await until(
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
