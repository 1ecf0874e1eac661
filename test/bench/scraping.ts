import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Pool, request } from 'undici';
import { buildGoExporter, GoExporter } from './go-exporter.ts';
import { compare, measureAlternating, type Comparison } from './measure.ts';
import { serveBody, type BodySize } from './polling-process.ts';
import {
  startExporterTarget,
  startPromClientTarget,
  type ExporterTarget,
  type ScrapeTarget,
} from './scrape-targets.ts';

/** The size of the listing and the numbers of scrapes. */
export interface ScrapingSize extends BodySize {
  /** Approximate number of series of the exposition. */
  readonly series: number;
  /** Scrapes in a round. */
  readonly scrapes: number;
  readonly rounds: number;
  /** CPU over that of client_golang. */
  readonly goal: number;
}

const SIZES: readonly ScrapingSize[] = [
  { series: 400, users: 10, tasks: 15, scrapes: 64, rounds: 5, goal: 1.5 },
  { series: 100_000, users: 10, tasks: 11_120, scrapes: 2, rounds: 3, goal: 0.25 },
];

/** As Prometheus sends them, without OpenMetrics, which prom-client does not serve by default. */
const HEADERS = {
  accept: 'text/plain;version=0.0.4;q=0.5,*/*;q=0.1',
  'accept-encoding': 'gzip',
};

/**
 * Compares the CPU time of a scrape after a poll with that of a client library that serves the same families and metrics of its
 * process, over one connection, with gzip: client_golang, or prom-client on a machine without Go.
 */
export async function benchScraping(sizes: readonly ScrapingSize[] = SIZES): Promise<Comparison[]> {
  const missing = buildGoExporter();
  if (missing !== undefined)
    process.stderr.write(`prom-client stands in for client_golang, which is missing: ${missing}\n`);
  const comparisons: Comparison[] = [];
  for (const size of sizes) comparisons.push(await benchSize(size, missing === undefined));
  return comparisons;
}

async function benchSize(size: ScrapingSize, hasGo: boolean): Promise<Comparison> {
  await using body = await serveBody(size, 'alternating');
  await using exporter = await startExporterTarget(body.url, size.tasks);
  // The second poll shows gains of counters.
  await exporter.change();
  await exporter.change();
  const folder = await mkdtemp(join(tmpdir(), 'scraping-'));
  try {
    const path = join(folder, 'exposition.txt');
    await writeFile(path, await (await request(`${exporter.url}/metrics`)).body.text());
    await using peer: ScrapeTarget = hasGo ? await GoExporter.start(path) : await startPromClientTarget(path);
    const [value = Number.NaN, referenceValue = Number.NaN] = await measureAlternating(size.rounds, [
      () => measureChangedScrapes(exporter, size.scrapes),
      () => measureScrapes(peer, size.scrapes),
    ]);
    const reference = hasGo ? 'client_golang' : 'prom-client';
    return compare(
      {
        name: `scrape of ${size.series} series after a poll, CPU`,
        unit: 'ms',
        value,
        reference,
        referenceValue,
      },
      { measure: 'ratio', direction: 'at most', bound: size.goal },
    );
  } finally {
    await rm(folder, { recursive: true });
  }
}

/** Measures the CPU time of the process for each scrape, in milliseconds. */
async function measureScrapes(target: ScrapeTarget, scrapes: number): Promise<number> {
  const pool = new Pool(target.url, { connections: 1 });
  const beforeMs = await target.readCpuMs();
  for (let number = 0; number < scrapes; number += 1) await scrape(pool);
  const afterMs = await target.readCpuMs();
  await pool.close();
  return (afterMs - beforeMs) / scrapes;
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
