import { performance } from 'node:perf_hooks';
import { Gauge, Registry } from 'prom-client';
import { Exposition } from '../../src/metrics/exposition.ts';
import type { Family } from '../../src/metrics/family.ts';
import { handle } from '../../src/web/routes.ts';
import type { ExporterView } from '../../src/web/view.ts';
import { alternate, compare, type Comparison, type Goal, type Run } from './measure.ts';

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

const UNCHANGED: Goal = { measure: 'saving', direction: 'at least', bound: 50 };
const CHANGED: Goal = { measure: 'saving', direction: 'at least', bound: 4 };
/** No dearer: a tenth is what two runs of the same differ by. */
const GZIPPED: Goal = { measure: 'ratio', direction: 'at most', bound: 1.1 };

/** The same series again, as after a poll that changed them all. */
function familyOf(series: number, value: number): Family {
  return {
    spec: SPEC,
    samples: Array.from({ length: series }, (_, n) => ({
      labels: ['TESTING', `aws-cn_north_1-5-${n}`],
      value,
    })),
  };
}

function registryOf({ samples }: Family): Registry {
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
function viewOf(family: Family): ExporterView {
  return {
    version: '0.0.0',
    collect: () => Promise.resolve([family]),
    hasServiceCode: () => true,
    labelsOf: () => ({}),
    isHealthy: () => true,
    isReady: () => true,
    nowMs: () => 0,
    status: () => [],
    statusOf: () => undefined,
    breakdownOf: () => undefined,
  };
}

/** Answers scrapes up to the body that is to be sent. */
function scraping(family: Family, exposition: Exposition, acceptEncoding: string): Run {
  const request = { method: 'GET', url: '/metrics', headers: { 'accept-encoding': acceptEncoding } };
  return () => handle(request, viewOf(family), { telemetryPath: '/metrics', exposition });
}

/**
 * Milliseconds for which a run keeps the main thread busy, by the clock of the event loop: what other threads do for it
 * meanwhile holds nobody up.
 */
async function mainThreadMs(run: Run): Promise<number> {
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
  const family = familyOf(series, 0);
  const [value = 0, referenceValue = 0] = await alternateMainThread(rounds, [
    scraping(family, exposition, 'gzip'),
    scraping(family, exposition, 'identity'),
  ]);
  const name = `scrape of ${series} series, nothing new, gzipped`;
  return [compare({ name, unit: 'ms', value, reference: 'not gzipped', referenceValue }, GZIPPED)];
}

async function benchOverClient({ series, rounds }: ScrapingSize): Promise<Comparison[]> {
  const exposition = new Exposition();
  const unchanged = familyOf(series, 0);
  const changed = Array.from({ length: rounds + 1 }, (_, round) => familyOf(series, round));
  const registry = registryOf(unchanged);
  const [plainMs = 0, changedMs = 0, referenceValue = 0] = await alternateMainThread(rounds, [
    scraping(unchanged, exposition, 'identity'),
    () => scraping(changed.pop() ?? unchanged, exposition, 'identity')(),
    () => registry.metrics(),
  ]);
  const client = { unit: 'ms', reference: 'metrics() of prom-client', referenceValue };
  const name = `scrape of ${series} series`;
  return [
    compare({ name: `${name}, nothing new since the last one`, value: plainMs, ...client }, UNCHANGED),
    compare({ name: `${name}, all new since the last one`, value: changedMs, ...client }, CHANGED),
  ];
}

function alternateMainThread(rounds: number, runs: readonly Run[]): Promise<number[]> {
  return alternate(
    rounds,
    runs.map((run) => () => mainThreadMs(run)),
  );
}
