import assert from 'node:assert/strict';
import { test } from 'node:test';
import { createExporter } from '../../src/app.ts';
import { systemClock } from '../../src/clock.ts';
import { createLogger } from '../../src/log.ts';
import { HoldingService } from '../support/holding-service.ts';
import { render } from '../support/render.ts';
import { scriptedConfiguration } from './configured.ts';
import { parseSeries, valueOf } from './series.ts';

const CODES = Array.from({ length: 1000 }, (_, index) => `CODE_${index}`);
const MAX_CONNECTIONS = 16;
/** Of one answer. */
const TOOK_MS = 20;
/** By far too short for all answers, one after the other on so many connections. */
const TIMEOUT_MS = 1000;

test('one scrape of a thousand codes polls them all, so many at a time, and no deadline passes in a queue', async () => {
  await using service = await HoldingService.listening(TOOK_MS);
  const scripted = scriptedConfiguration(service.url, CODES, 10);
  const configuration = {
    ...scripted,
    poll: { mode: 'scrape', minAgeMs: 5000 } as const,
    upstream: { ...scripted.upstream, maxConnections: MAX_CONNECTIONS },
    serviceCodes: scripted.serviceCodes.map((code) => ({ ...code, timeoutMs: TIMEOUT_MS })),
  };
  await using exporter = createExporter(configuration, {
    clock: systemClock,
    logger: createLogger({ level: 'error', format: 'json', destination: process.stderr }),
    build: { version: '0.0.0', revision: 'test', nodeVersion: process.version },
  });
  const mistakes: unknown[] = [];
  exporter.poller.start().catch((error: unknown) => mistakes.push(error));
  const askedMs = performance.now();
  await exporter.view.refresh({ timeoutMs: 60_000 });
  const tookMs = performance.now() - askedMs;
  const series = parseSeries(render(await exporter.view.collect(), 'text'));
  assert.deepEqual(
    CODES.filter((code) => valueOf(series, 'xvs_up', code) !== 1),
    [],
  );
  assert.deepEqual([service.requests, service.mostAtATime], [CODES.length, MAX_CONNECTIONS]);
  assert.ok(tookMs > TIMEOUT_MS, `${tookMs} ms: too quick to show anything`);
  assert.deepEqual(mistakes, []);
});
