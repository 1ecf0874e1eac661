import { z } from 'zod';
import { ADDRESS, NOTHING } from './answers.ts';
import { Child } from './child.ts';
import { compare, quantile, type Comparison, type Goal } from './measure.ts';
import { exporterEnv, serveBody, type BodySize } from './polled.ts';

/** What is polled without a pause, and how often the exporter is scraped meanwhile. */
export interface ResponsivenessSize extends BodySize {
  readonly scrapes: number;
  readonly scrapeIntervalMs: number;
  /** Scrapes before those that count. */
  readonly warmUp: number;
}

const SIZE: ResponsivenessSize = {
  users: 1_400_000,
  tasks: 12_000,
  scrapes: 300,
  scrapeIntervalMs: 100,
  warmUp: 60,
};

/** Of the grid on which polls are due: one is begun as soon as another is over. */
const POLL_GRID_MS = 50;
const TURN = z.object({ longestTurnMs: z.number() });
const SCRAPES = z.object({ latenciesMs: z.array(z.number()) });
const STOP: Goal = { measure: 'value', direction: 'at most', bound: 20 };
const LATENCY: Goal = { measure: 'value', direction: 'at most', bound: 15 };

/**
 * An exporter that polls without a pause, scraped ten times a second: the longest turn of its event loop, which its own
 * process notes to the millisecond, and what a scraper in another process waits for an answer.
 */
export async function benchResponsiveness(size: ResponsivenessSize = SIZE): Promise<Comparison[]> {
  await using body = await serveBody(size);
  await using exporter = await Child.start('exporter', {
    args: [String(POLL_GRID_MS)],
    env: exporterEnv(body.url),
  });
  const { url } = await exporter.ask('address', ADDRESS);
  await scrape(url, size.warmUp, size);
  await exporter.ask('watchTurns', NOTHING);
  const latenciesMs = await scrape(url, size.scrapes, size);
  const { longestTurnMs } = await exporter.ask('longestTurn', TURN);
  const name = `polls of ${body.megabytes.toFixed(0)} MB without a pause`;
  const p99 = quantile(latenciesMs, 0.99);
  return [
    compare({ name: `${name}, longest stop of the event loop`, unit: 'ms', value: longestTurnMs }, STOP),
    compare({ name: `${name}, p99 of ${size.scrapes} scrapes meanwhile`, unit: 'ms', value: p99 }, LATENCY),
  ];
}

async function scrape(
  url: string,
  scrapes: number,
  { scrapeIntervalMs }: ResponsivenessSize,
): Promise<readonly number[]> {
  const args = [`${url}/metrics`, String(scrapes), String(scrapeIntervalMs)];
  await using scraper = await Child.start('scraper', { args });
  return (await scraper.ask('scrape', SCRAPES)).latenciesMs;
}
