import { setTimeout as delay } from 'node:timers/promises';
import { gunzipSync } from 'node:zlib';
import { request } from 'undici';
import { Program, PROGRAM_PATH } from '../support/program.ts';
import { SHIPPED } from '../support/shipped.ts';
import { ADDRESS_RESPONSE, Child } from './child.ts';
import { compare, quantile, type Comparison } from './measure.ts';
import { createExporterEnv } from './served-body.ts';

const USERS = 100;
const TASKS = 20;
const INTERVAL_MS = 15_000;
const SCRAPES = 40;
/** First polls are spread over an interval, and the second ones let each code grow to its usual size. */
const WARM_UP_MS = 3 * INTERVAL_MS;

/** Numbers of service codes that are tried: the steps of the search and its end. */
const STEP = 250;
const MAX_CODES = 5000;
const GOAL = 2000;

/** What an exporter of some service codes did in ten minutes. */
interface Load {
  readonly codes: number;
  readonly rssMib: number;
  /** Live accounts as a share of their limit. */
  readonly accounts: number;
  /** Items of listings that were not counted. */
  readonly surplus: number;
  readonly slowestScrapeMs: number;
  readonly cpuShare: number;
  readonly megabytes: number;
}

/**
 * Finds the largest number of service codes that the program carries as it is shipped, with no alert about
 * its limits.
 */
export async function benchCapacity(): Promise<Comparison[]> {
  let carried: Load | undefined;
  let low = 0;
  let high = MAX_CODES + STEP;
  for (let codes = GOAL; high - low > STEP; codes = STEP * Math.round((low + high) / 2 / STEP)) {
    const load = await measureLoad(codes);
    const isCarried = findLimits(load).length === 0;
    process.stderr.write(`${describeLoad(load)}\n`);
    if (isCarried) carried = load;
    if (isCarried) low = codes;
    else high = codes;
  }
  const name = `${SHIPPED.memoryMiB} MiB, codes of ${USERS} users and ${TASKS} tasks every ${INTERVAL_MS / 1000} s`;
  return [
    compare({ name, unit: 'codes', value: low }, { measure: 'value', direction: 'at least', bound: GOAL }),
    ...(carried === undefined
      ? []
      : [
          compare(
            { name: `${name}: a scrape at that number, gzip`, unit: 'ms', value: carried.slowestScrapeMs },
            { measure: 'value', direction: 'at most', bound: 1000 },
          ),
        ]),
  ];
}

/** The limits that a load exceeds, as the alerts have them. */
function findLimits({ rssMib, accounts, surplus, slowestScrapeMs }: Load): readonly string[] {
  return [
    ...(rssMib >= 0.85 * SHIPPED.memoryMiB ? ['memory'] : []),
    ...(accounts >= 0.9 ? ['accounts'] : []),
    ...(surplus > 0 ? ['surplus'] : []),
    ...(slowestScrapeMs >= 1000 ? ['scrape'] : []),
  ];
}

function describeLoad(load: Load): string {
  const limits = findLimits(load);
  return [
    `${load.codes} codes: ${limits.length === 0 ? 'carried' : `too many (${limits.join(', ')})`}`,
    `RSS ${load.rssMib.toFixed(0)} MiB`,
    `live accounts ${(100 * load.accounts).toFixed(0)} % of their limit`,
    `surplus ${load.surplus}`,
    `slowest scrape ${load.slowestScrapeMs.toFixed(0)} ms, ${load.megabytes.toFixed(1)} MB`,
    `CPU ${(100 * load.cpuShare).toFixed(1)} %`,
  ].join(', ');
}

async function measureLoad(codes: number): Promise<Load> {
  const names = Array.from({ length: codes }, (_, number) => `CODE${number}`).join(',');
  await using simulator = await Child.start('simulating', { args: [names, String(USERS), String(TASKS)] });
  const { url } = await simulator.sendCommand('address', ADDRESS_RESPONSE);
  await using exporter = new Program(process.execPath, [...SHIPPED.nodeFlags, PROGRAM_PATH], {
    ...createExporterEnv(url),
    XVS_SERVICE_CODES: names,
    XVS_POLL_INTERVAL: `${INTERVAL_MS}ms`,
  });
  const metricsUrl = `http://127.0.0.1:${await exporter.waitForPort()}/metrics`;
  await delay(WARM_UP_MS);
  const scrapesMs: number[] = [];
  const memoryMib: number[] = [];
  const startedMs = performance.now();
  const firstCpuMs = exporter.cpuMs;
  let text = '';
  for (let round = 1; round <= SCRAPES; round += 1) {
    const scrapedMs = performance.now();
    const { body } = await request(metricsUrl, { headers: { 'accept-encoding': 'gzip' } });
    const bytes = await body.arrayBuffer();
    scrapesMs.push(performance.now() - scrapedMs);
    text = gunzipSync(bytes).toString();
    memoryMib.push(exporter.rssMiB);
    await delay(Math.max(0, startedMs + round * INTERVAL_MS - performance.now()));
  }
  const cpuShare = (exporter.cpuMs - firstCpuMs) / (performance.now() - startedMs);
  const up = sumSeries(text, 'xvs_up');
  if (up !== codes) throw new Error(`Expected ${codes} service codes to be up, found ${up}`);
  return {
    codes,
    cpuShare,
    rssMib: quantile(memoryMib, 1),
    accounts:
      sumSeries(text, 'xvs_exporter_accounts{state="live"}') / sumSeries(text, 'xvs_exporter_accounts_limit'),
    surplus: sumSeries(text, 'xvs_exporter_listing_surplus_total'),
    slowestScrapeMs: quantile(scrapesMs, 1),
    megabytes: Buffer.byteLength(text) / 1e6,
  };
}

/**
 * The sum of the series whose lines begin with a prefix. The exposition is too large to be parsed as tests
 * do.
 */
function sumSeries(text: string, prefix: string): number {
  const lines = text.split('\n').filter((line) => line.startsWith(prefix));
  return lines.reduce((sum, line) => sum + Number(line.slice(line.lastIndexOf(' '))), 0);
}
