import { z } from 'zod';
import { ADDRESS_RESPONSE, EMPTY_RESPONSE } from './child-responses.ts';
import { Child } from './child.ts';
import { compare, quantile, type Comparison, type Goal } from './measure.ts';
import { createExporterEnv, serveBody, type BodySize } from './polling-process.ts';

/** The size of the listing that is polled without a pause, and the number of scrapes meanwhile. */
export interface ResponsivenessSize extends BodySize {
  readonly scrapes: number;
  readonly scrapeIntervalMs: number;
  /** Scrapes before the measured ones. */
  readonly warmUp: number;
}

const SIZE: ResponsivenessSize = {
  users: 1_400_000,
  tasks: 12_000,
  scrapes: 300,
  scrapeIntervalMs: 100,
  warmUp: 60,
};

/** Shorter than a poll, so that the next poll starts as soon as one ends. */
const BUSY_INTERVAL_MS = 50;
const IDLE_INTERVAL_MS = 3_600_000;
const IDLE = 'an idle exporter beside it';
const LONGEST_TURN_RESPONSE = z.object({ longestTurnMs: z.number() });
const SCRAPES_RESPONSE = z.object({ latenciesMs: z.array(z.number()) });
const EVENT_LOOP_DELAY_GOAL: Goal = { measure: 'value', direction: 'at most', bound: 10 };
const LATENCY_GOAL: Goal = { measure: 'excess', direction: 'at most', bound: 3 };

/** Figures of an exporter while it is scraped. */
interface Responsiveness {
  /** The longest turn of its event loop, measured in its own process to the millisecond. */
  readonly maxEventLoopDelayMs: number;
  /** Latency of scrapes from another process. */
  readonly p99Ms: number;
}

/**
 * Scrapes an exporter that polls without a pause ten times a second. An idle exporter is scraped beside it, to show which
 * delays the machine causes.
 */
export async function benchResponsiveness(size: ResponsivenessSize = SIZE): Promise<Comparison[]> {
  await using body = await serveBody(size);
  const env = createExporterEnv(body.url);
  await using busy = await Child.start('exporter', { args: [String(BUSY_INTERVAL_MS)], env });
  await using idle = await Child.start('exporter', { args: [String(IDLE_INTERVAL_MS)], env });
  const [own, noise] = await Promise.all(
    [busy, idle].map((exporter) => measureResponsiveness(exporter, size)),
  );
  const name = `polls of ${body.megabytes.toFixed(0)} MB without a pause`;
  const rows = [
    [
      'longest stop of the event loop',
      own?.maxEventLoopDelayMs,
      noise?.maxEventLoopDelayMs,
      EVENT_LOOP_DELAY_GOAL,
    ],
    [`p99 of ${size.scrapes} scrapes meanwhile`, own?.p99Ms, noise?.p99Ms, LATENCY_GOAL],
  ] as const;
  return rows.map(([what, value = Number.NaN, referenceValue = Number.NaN, goal]) =>
    compare({ name: `${name}, ${what}`, unit: 'ms', value, reference: IDLE, referenceValue }, goal),
  );
}

async function measureResponsiveness(exporter: Child, size: ResponsivenessSize): Promise<Responsiveness> {
  const { url } = await exporter.sendCommand('address', ADDRESS_RESPONSE);
  await scrape(url, size.warmUp, size.scrapeIntervalMs);
  await exporter.sendCommand('watchTurns', EMPTY_RESPONSE);
  const latenciesMs = await scrape(url, size.scrapes, size.scrapeIntervalMs);
  const { longestTurnMs } = await exporter.sendCommand('longestTurn', LONGEST_TURN_RESPONSE);
  return { maxEventLoopDelayMs: longestTurnMs, p99Ms: quantile(latenciesMs, 0.99) };
}

async function scrape(url: string, scrapes: number, intervalMs: number): Promise<readonly number[]> {
  const args = [`${url}/metrics`, String(scrapes), String(intervalMs)];
  await using scraper = await Child.start('scraper', { args });
  return (await scraper.sendCommand('scrape', SCRAPES_RESPONSE)).latenciesMs;
}
