import { Gauge, Registry } from 'prom-client';
import { Exposition } from '../../src/metrics/exposition.ts';
import type { Family } from '../../src/metrics/family.ts';
import { handle } from '../../src/web/routes.ts';
import type { ExporterView } from '../../src/web/view.ts';
import { alternate, compare, cpuMs, type Comparison, type Goal, type Run } from './measure.ts';

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
    isReady: () => true,
    status: () => [],
  };
}

/** Answers scrapes up to the body that is to be sent. */
function scraping(family: Family, exposition: Exposition, acceptEncoding: string): Run {
  const request = { method: 'GET', url: '/metrics', headers: { 'accept-encoding': acceptEncoding } };
  return () => handle(request, viewOf(family), { telemetryPath: '/metrics', exposition });
}

/**
 * A scrape, up to the body that is sent, against prom-client's `metrics()` on the same series. What other threads do for
 * it counts as well: the clock of the event loop, which would leave it out, counts what other processes take instead.
 */
export async function benchScraping({ series, rounds }: ScrapingSize = SIZE): Promise<Comparison[]> {
  const exposition = new Exposition();
  const unchanged = familyOf(series, 0);
  const changed = Array.from({ length: rounds + 1 }, (_, round) => familyOf(series, round));
  const registry = registryOf(unchanged);
  const [plainMs = 0, gzippedMs = 0, changedMs = 0, clientMs = 0] = await alternate(
    rounds,
    [
      scraping(unchanged, exposition, 'identity'),
      scraping(unchanged, exposition, 'gzip'),
      () => scraping(changed.pop() ?? unchanged, exposition, 'identity')(),
      () => registry.metrics(),
    ].map((run) => () => cpuMs(run)),
  );
  const name = `scrape of ${series} series`;
  const client = { reference: 'metrics() of prom-client', referenceValue: clientMs };
  const plain = { reference: 'the same, not gzipped', referenceValue: plainMs };
  const rows = [
    [`${name}, nothing new since the last one`, plainMs, client, UNCHANGED],
    [`${name}, nothing new, gzipped`, gzippedMs, plain, GZIPPED],
    [`${name}, all new since the last one`, changedMs, client, CHANGED],
  ] as const;
  return rows.map(([row, value, compared, goal]) =>
    compare({ name: row, unit: 'ms', value, ...compared }, goal),
  );
}
