import { performance } from 'node:perf_hooks';
import { Gauge, Registry } from 'prom-client';
import { Exposition } from '../../src/metrics/exposition.ts';
import type { Family } from '../../src/metrics/family.ts';
import { handle } from '../../src/web/routes.ts';
import type { ExporterFacade } from '../../src/web/exporter-facade.ts';
import { measureAlternating, compare, type Comparison, type Goal, type Run } from './measure.ts';
import { SINGLE_SHARD } from '../../src/sharding/shard.ts';

/** How many series there are, and how often they are scraped. */
export interface ScrapingSize {
  readonly series: number;
  readonly rounds: number;
}

const SIZE: ScrapingSize = { series: 100_000, rounds: 7 };
const SPEC = {
  name: 'xvs_task_stalled',
  type: 'gauge',
  help: 'Whether a task is stalled.',
  labels: ['service_code', 'task_id'],
} as const;

const UNCHANGED_GOAL: Goal = { measure: 'saving', direction: 'at least', bound: 50 };
const CHANGED_GOAL: Goal = { measure: 'saving', direction: 'at least', bound: 4 };
/** No dearer: a tenth is what two runs of the same differ by. */
const GZIPPED_GOAL: Goal = { measure: 'ratio', direction: 'at most', bound: 1.1 };

/** The same series again, as after a poll that changed them all. */
function createFamily(series: number, value: number): Family {
  return {
    spec: SPEC,
    samples: Array.from({ length: series }, (_, n) => ({
      labels: ['TESTING', `aws-cn_north_1-5-${n}`],
      value,
    })),
  };
}

function createRegistry({ samples }: Family): Registry {
  const registry = new Registry();
  const gauge = new Gauge({
    name: SPEC.name,
    help: SPEC.help,
    labelNames: SPEC.labels,
    registers: [registry],
  });
  for (const { labels } of samples) gauge.set({ service_code: labels[0] ?? '', task_id: labels[1] ?? '' }, 0);
  return registry;
}

/** A view of nothing but this family. */
function createFacade(family: Family): ExporterFacade {
  return {
    version: '0.0.0',
    refresh: () => Promise.resolve(),
    shard: SINGLE_SHARD,
    getOtherShard: () => undefined,
    collect: () => Promise.resolve([family]),
    getServiceCodes: () => [],
    hasServiceCode: () => true,
    isHealthy: () => true,
    isReady: () => true,
    nowMs: () => 0,
    getStatuses: () => [],
    getStatus: () => undefined,
    getBreakdown: () => undefined,
  };
}

/** Answers scrapes up to the body that is to be sent. */
function createScrape(family: Family, exposition: Exposition, acceptEncoding: string): Run {
  const request = { method: 'GET', url: '/metrics', headers: { 'accept-encoding': acceptEncoding } };
  return () => handle(request, createFacade(family), { telemetryPath: '/metrics', exposition });
}

/**
 * Milliseconds for which a run keeps the main thread busy, by the clock of the event loop: what other threads do for it
 * meanwhile delays no request.
 */
async function measureMainThreadMs(run: Run): Promise<number> {
  const before = performance.eventLoopUtilization();
  await run();
  return performance.eventLoopUtilization(before).active;
}

/** A scrape, up to the body that is sent, against prom-client's `metrics()` on the same series. */
export async function benchScraping(size: ScrapingSize = SIZE): Promise<Comparison[]> {
  // Compression waits for another thread, and what garbage the others left would be collected meanwhile: it is first.
  return [...(await benchGzipped(size)), ...(await benchOverClient(size))];
}

async function benchGzipped({ series, rounds }: ScrapingSize): Promise<Comparison[]> {
  const exposition = new Exposition();
  const family = createFamily(series, 0);
  const [value = 0, referenceValue = 0] = await alternateMainThread(rounds, [
    createScrape(family, exposition, 'gzip'),
    createScrape(family, exposition, 'identity'),
  ]);
  const name = `scrape of ${series} series, nothing new, gzipped`;
  return [compare({ name, unit: 'ms', value, reference: 'not gzipped', referenceValue }, GZIPPED_GOAL)];
}

async function benchOverClient({ series, rounds }: ScrapingSize): Promise<Comparison[]> {
  const exposition = new Exposition();
  const unchanged = createFamily(series, 0);
  const changed = Array.from({ length: rounds + 1 }, (_, round) => createFamily(series, round));
  const registry = createRegistry(unchanged);
  const [plainMs = 0, changedMs = 0, referenceValue = 0] = await alternateMainThread(rounds, [
    createScrape(unchanged, exposition, 'identity'),
    () => createScrape(changed.pop() ?? unchanged, exposition, 'identity')(),
    () => registry.metrics(),
  ]);
  const client = { unit: 'ms', reference: 'metrics() of prom-client', referenceValue };
  const name = `scrape of ${series} series`;
  return [
    compare({ name: `${name}, nothing new since the last one`, value: plainMs, ...client }, UNCHANGED_GOAL),
    compare({ name: `${name}, all new since the last one`, value: changedMs, ...client }, CHANGED_GOAL),
  ];
}

function alternateMainThread(rounds: number, runs: readonly Run[]): Promise<number[]> {
  return measureAlternating(
    rounds,
    runs.map((run) => () => measureMainThreadMs(run)),
  );
}
