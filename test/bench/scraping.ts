import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Pool, request } from 'undici';
import { buildGoExporter, GoExporter } from './go-exporter.ts';
import { compare, measureAlternating, type Comparison, type Goal } from './measure.ts';
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
  /** Concurrent connections. */
  readonly connections: readonly number[];
  readonly unchangedGoal?: Goal;
  readonly changedGoal?: Goal;
}

const NO_DEARER: Goal = { measure: 'ratio', direction: 'at most', bound: 1 };
const SIZES: readonly ScrapingSize[] = [
  {
    series: 300,
    users: 10,
    tasks: 3,
    scrapes: 256,
    rounds: 5,
    connections: [1, 64],
    unchangedGoal: NO_DEARER,
  },
  { series: 10_000, users: 10, tasks: 1070, scrapes: 64, rounds: 3, connections: [1, 64] },
  {
    series: 100_000,
    users: 10,
    tasks: 11_120,
    scrapes: 2,
    rounds: 5,
    // With 64 concurrent scrapes, a client library needs gigabytes of memory.
    connections: [1],
    unchangedGoal: { measure: 'saving', direction: 'at least', bound: 50 },
    changedGoal: { measure: 'saving', direction: 'at least', bound: 5 },
  },
];
const NO_GOAL: Goal = { measure: 'saving', direction: 'at least' };

/** Changed scrapes in a round: each needs a poll. */
const MAX_CHANGES = 32;

const ENCODINGS = ['identity', 'gzip'] as const;
type Encoding = (typeof ENCODINGS)[number];

/** As Prometheus sends it, without OpenMetrics, which prom-client does not serve by default. */
const ACCEPT = 'text/plain;version=0.0.4;q=0.5,*/*;q=0.1';

/** A program that serves the same families with a client library. */
interface Peer {
  readonly name: string;
  readonly target: ScrapeTarget;
}

/**
 * Compares the CPU time of a scrape in the exporter's process with that of client libraries that serve the same families,
 * each with its own metrics of the process. "Changed" means after a poll and after the metrics of the process have expired;
 * a client library renders and collects everything for each scrape.
 */
export async function benchScraping(sizes: readonly ScrapingSize[] = SIZES): Promise<Comparison[]> {
  const missing = buildGoExporter();
  if (missing !== undefined) process.stderr.write(`client_golang is missing from this run: ${missing}\n`);
  const comparisons: Comparison[] = [];
  for (const size of sizes) comparisons.push(...(await benchSize(size, missing === undefined)));
  return comparisons;
}

async function benchSize(size: ScrapingSize, hasGo: boolean): Promise<Comparison[]> {
  await using body = await serveBody(size, 'alternating');
  await using exporter = await startExporterTarget(body.url, size.tasks);
  // The second poll shows gains of counters.
  await exporter.change();
  await exporter.change();
  const folder = await mkdtemp(join(tmpdir(), 'scraping-'));
  try {
    const path = join(folder, 'exposition.txt');
    await writeFile(path, await (await request(`${exporter.url}/metrics`)).body.text());
    await using promClient = await startPromClientTarget(path);
    await using go = hasGo ? await GoExporter.start(path) : undefined;
    const peers = [
      ...(go === undefined ? [] : [{ name: 'client_golang', target: go }]),
      { name: 'prom-client', target: promClient },
    ];
    const comparisons: Comparison[] = [];
    for (const encoding of ENCODINGS) {
      for (const connections of size.connections)
        comparisons.push(...(await benchScrapes(size, exporter, peers, encoding, connections)));
    }
    return comparisons;
  } finally {
    await rm(folder, { recursive: true });
  }
}

/** Measures unchanged scrapes and, on one connection, changed ones. */
async function benchScrapes(
  { series, scrapes, rounds, unchangedGoal, changedGoal }: ScrapingSize,
  exporter: ExporterTarget,
  peers: readonly Peer[],
  encoding: Encoding,
  connections: number,
): Promise<Comparison[]> {
  const measure = (target: ScrapeTarget) => () => measureScrapes(target, scrapes, encoding, connections);
  const canChange = connections === 1;
  const [unchangedMs = Number.NaN, changedMs = Number.NaN, ...peersMs] = await measureAlternating(rounds, [
    measure(exporter),
    canChange ? () => measureChangedScrapes(exporter, scrapes, encoding) : () => Number.NaN,
    ...peers.map(({ target }) => measure(target)),
  ]);
  const name = `scrape of ${series} series, ${encoding === 'gzip' ? 'gzip' : 'plain'}, CPU`;
  const suffix = connections === 1 ? '' : `, ${connections} connections`;
  return peers.flatMap((peer, index) => {
    const figures = { unit: 'ms', reference: peer.name, referenceValue: peersMs[index] ?? Number.NaN };
    const hasGoal = changedGoal !== undefined || peer.name === 'client_golang';
    const unchanged = { ...figures, name: `${name}, unchanged${suffix}`, value: unchangedMs };
    const changed = { ...figures, name: `${name}, changed${suffix}`, value: changedMs };
    return [
      compare(unchanged, (hasGoal ? unchangedGoal : undefined) ?? NO_GOAL),
      ...(canChange ? [compare(changed, changedGoal ?? NO_GOAL)] : []),
    ];
  });
}

/** Measures the CPU time of the process for each scrape, in milliseconds. */
async function measureScrapes(
  target: ScrapeTarget,
  scrapes: number,
  encoding: Encoding,
  connections: number,
): Promise<number> {
  const pool = new Pool(target.url, { connections });
  const beforeMs = await target.readCpuMs();
  let left = scrapes;
  const scrapeOnConnection = async (): Promise<void> => {
    while (left > 0) {
      left -= 1;
      await scrape(pool, encoding);
    }
  };
  await Promise.all(Array.from({ length: connections }, scrapeOnConnection));
  const afterMs = await target.readCpuMs();
  await pool.close();
  return (afterMs - beforeMs) / scrapes;
}

/** Measures scrapes that each follow a change, without the CPU time of the change. */
async function measureChangedScrapes(
  exporter: ExporterTarget,
  scrapes: number,
  encoding: Encoding,
): Promise<number> {
  const pool = new Pool(exporter.url, { connections: 1 });
  let cpuMs = 0;
  const changes = Math.min(scrapes, MAX_CHANGES);
  for (let number = 0; number < changes; number += 1) {
    const beforeMs = await exporter.change();
    await scrape(pool, encoding);
    cpuMs += (await exporter.readCpuMs()) - beforeMs;
  }
  await pool.close();
  return cpuMs / changes;
}

async function scrape(pool: Pool, encoding: Encoding): Promise<void> {
  const headers = { accept: ACCEPT, 'accept-encoding': encoding };
  const { statusCode, body } = await pool.request({ method: 'GET', path: '/metrics', headers });
  if (statusCode !== 200) throw new Error(`Expected status 200, found ${statusCode}`);
  for await (const _ of body);
}
