import assert from 'node:assert/strict';
import { test } from 'node:test';
import { createExporter } from '../../src/app.ts';
import { systemClock } from '../../src/runtime/clock.ts';
import { createLogger } from '../../src/runtime/logger.ts';
import { PausableService } from '../support/pausable-service.ts';
import { render } from '../support/render.ts';
import { createScriptedConfiguration } from './rig-configuration.ts';
import { parseSeries, readValue } from '../support/series.ts';

const CODES = Array.from({ length: 1000 }, (_, index) => `CODE_${index}`);
const MAX_CONNECTIONS = 16;
/** Delay of each response of the service. */
const RESPONSE_DELAY_MS = 100;
/** Much longer than one response takes, but shorter than all responses over `MAX_CONNECTIONS` take together. */
const TIMEOUT_MS = 5000;

test('one scrape polls a thousand codes over few connections, and no code times out in the queue', async () => {
  await using service = await PausableService.start(RESPONSE_DELAY_MS);
  const scripted = createScriptedConfiguration(service.url, CODES, 10);
  const configuration = {
    ...scripted,
    poll: { mode: 'scrape', minAgeMs: 5000 } as const,
    upstream: { ...scripted.upstream, maxConnections: MAX_CONNECTIONS },
    serviceCodes: scripted.serviceCodes.map((code) => ({ ...code, timeoutMs: TIMEOUT_MS })),
  };
  await using exporter = createExporter(configuration, {
    clock: systemClock,
    logger: createLogger({ level: 'error', format: 'json', destination: process.stderr }),
    build: {
      version: '0.0.0',
      revision: 'test',
      nodeVersion: process.version,
      runbookUrl: 'https://docs.example.com/runbook.md',
    },
  });
  const mistakes: unknown[] = [];
  exporter.poller.start().catch((error: unknown) => mistakes.push(error));
  const askedMs = performance.now();
  await exporter.facade.refresh({ timeoutMs: 600_000 });
  const tookMs = performance.now() - askedMs;
  const series = parseSeries(render((await exporter.facade.collect()).families, 'text'));
  assert.deepEqual(
    CODES.filter((code) => readValue(series, 'xvs_up', code) !== 1),
    [],
  );
  assert.deepEqual([service.requestCount, service.maxConcurrentRequests], [CODES.length, MAX_CONNECTIONS]);
  assert.ok(tookMs > TIMEOUT_MS, `Expected the scrape to outlast a poll timeout, found ${tookMs} ms`);
  assert.deepEqual(mistakes, []);
});
