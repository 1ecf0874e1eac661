import { Pool } from 'undici';
import { ADDRESS_RESPONSE, Child, CPU_RESPONSE } from './child.ts';
import { compare, measureAlternating, type Comparison } from './measure.ts';
import { createExporterEnv, serveBody, type BodySize } from './served-body.ts';

/** The size of the listing and the numbers of scrapes. */
interface ScrapingSize extends BodySize {
  /** Approximate number of series of the exposition. */
  readonly series: number;
  /** Scrapes in a round. */
  readonly scrapes: number;
  readonly rounds: number;
  /** CPU in milliseconds. */
  readonly goal: number;
}

const SIZES: readonly ScrapingSize[] = [
  { series: 400, users: 10, tasks: 15, scrapes: 64, rounds: 5, goal: 3 },
  { series: 100_000, users: 10, tasks: 11_120, scrapes: 2, rounds: 3, goal: 110 },
];

/** As Prometheus sends them, without OpenMetrics. */
const HEADERS = {
  accept: 'text/plain;version=0.0.4;q=0.5,*/*;q=0.1',
  'accept-encoding': 'gzip',
};

/** Measures the CPU time of a scrape after a poll, over one connection, with gzip. */
export async function benchScraping(): Promise<Comparison[]> {
  const comparisons: Comparison[] = [];
  for (const size of SIZES) comparisons.push(await benchSize(size));
  return comparisons;
}

async function benchSize(size: ScrapingSize): Promise<Comparison> {
  await using body = await serveBody(size, 'alternating');
  await using exporter = await startExporterTarget(body.url, size.tasks);
  // The second poll shows gains of counters.
  await exporter.change();
  await exporter.change();
  const [value = Number.NaN] = await measureAlternating(size.rounds, [
    () => measureChangedScrapes(exporter, size.scrapes),
  ]);
  return compare(
    { name: `scrape of ${size.series} series after a poll, CPU`, unit: 'ms', value },
    { measure: 'value', direction: 'at most', bound: size.goal },
  );
}

/** The exporter, which polls on command. */
interface ExporterTarget extends AsyncDisposable {
  readonly url: string;
  /** Returns the CPU time of the process since its start. */
  readCpuMs(): Promise<number>;
  /** Makes the next scrape differ from the last one. Returns the CPU time of the process up to then. */
  change(): Promise<number>;
}

/** Starts an exporter that polls `baseUrl` and exposes up to `tasks` tasks in per-task families. */
async function startExporterTarget(baseUrl: string, tasks: number): Promise<ExporterTarget> {
  const env = {
    ...createExporterEnv(baseUrl),
    XVS_METRICS_PER_TASK: 'true',
    XVS_METRICS_MAX_TASKS: String(Math.max(1, tasks)),
  };
  const child = await Child.start('scraped-exporter', { env });
  const { url } = await child.sendCommand('address', ADDRESS_RESPONSE);
  return {
    url,
    change: async () => (await child.sendCommand('change', CPU_RESPONSE)).cpuMs,
    readCpuMs: async () => (await child.sendCommand('cpu', CPU_RESPONSE)).cpuMs,
    [Symbol.asyncDispose]: () => child[Symbol.asyncDispose](),
  };
}

/** Measures scrapes that each follow a change, without the CPU time of the change. */
async function measureChangedScrapes(exporter: ExporterTarget, scrapes: number): Promise<number> {
  const pool = new Pool(exporter.url, { connections: 1 });
  let cpuMs = 0;
  for (let number = 0; number < scrapes; number += 1) {
    const beforeMs = await exporter.change();
    await scrape(pool);
    cpuMs += (await exporter.readCpuMs()) - beforeMs;
  }
  await pool.close();
  return cpuMs / scrapes;
}

async function scrape(pool: Pool): Promise<void> {
  const { statusCode, body } = await pool.request({ method: 'GET', path: '/metrics', headers: HEADERS });
  if (statusCode !== 200) throw new Error(`Expected status 200, found ${statusCode}`);
  for await (const _ of body);
}
