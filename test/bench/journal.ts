import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { z } from 'zod';
import { ADDRESS_RESPONSE, EMPTY_RESPONSE, USAGE_RESPONSE } from './child-responses.ts';
import { Child } from './child.ts';
import { CODES_SIZE, waitUntilReady, type CodesSize } from './codes.ts';
import { compare, quantile, type Comparison, type Goal } from './measure.ts';
import { createExporterEnv } from './polling-process.ts';

const SCRAPES_PER_SECOND = 10;
const SCRAPES_RESPONSE = z.object({ latenciesMs: z.array(z.number()) });
const CPU_GOAL: Goal = { measure: 'excess', direction: 'at most', bound: 1 };
const LATENCY_GOAL: Goal = { measure: 'excess', direction: 'at most', bound: 5 };

/** CPU time of an exporter, and latencies of its polls and scrapes. */
interface Cost {
  readonly cpuShare: number;
  readonly meanPollMs: number;
  readonly p99Ms: number;
}

/** Compares an exporter with a state file with one without. Both poll many service codes of one simulator at the same time. */
export async function benchJournal(size: CodesSize = CODES_SIZE): Promise<Comparison[]> {
  const codes = Array.from({ length: size.codes }, (_, number) => `CODE${number}`);
  await using simulator = await Child.start('simulating', {
    args: [codes.join(','), String(size.users), String(size.tasks)],
  });
  const { url } = await simulator.sendCommand('address', ADDRESS_RESPONSE);
  const env = {
    ...createExporterEnv(url),
    XVS_SERVICE_CODES: codes.join(','),
    XVS_POLL_INTERVAL: `${size.intervalMs}ms`,
  };
  const folder = mkdtempSync(join(tmpdir(), 'xvs-bench-'));
  try {
    await using persisting = await Child.start('exporter', {
      env: { ...env, XVS_STATE_FILE: join(folder, 'state') },
    });
    await using forgetting = await Child.start('exporter', { env });
    const [own, reference] = await Promise.all(
      [persisting, forgetting].map((exporter) => measure(exporter, size)),
    );
    return compareCosts(
      `${size.codes} service codes every ${size.intervalMs / 1000} s, with state.file`,
      own,
      reference,
    );
  } finally {
    rmSync(folder, { recursive: true });
  }
}

function compareCosts(name: string, own: Cost | undefined, other: Cost | undefined): Comparison[] {
  const rows = [
    ['share of a core', '%', 100, 'cpuShare', CPU_GOAL],
    ['mean poll', 'ms', 1, 'meanPollMs', LATENCY_GOAL],
    ['p99 of scrapes', 'ms', 1, 'p99Ms', LATENCY_GOAL],
  ] as const;
  return rows.map(([what, unit, factor, key, goal]) => {
    const value = factor * (own?.[key] ?? Number.NaN);
    const referenceValue = factor * (other?.[key] ?? Number.NaN);
    return compare({ name: `${name}, ${what}`, unit, value, reference: 'without', referenceValue }, goal);
  });
}

async function measure(exporter: Child, { intervalMs, rounds }: CodesSize): Promise<Cost> {
  const { url } = await exporter.sendCommand('address', ADDRESS_RESPONSE);
  await waitUntilReady(url, Date.now() + 2 * intervalMs);
  const scrapes = Math.ceil((rounds * intervalMs * SCRAPES_PER_SECOND) / 1000);
  const args = [`${url}/metrics?service_code=CODE0`, String(scrapes), String(1000 / SCRAPES_PER_SECOND)];
  await using scraper = await Child.start('scraper', { args });
  const before = await sumPollDurations(url);
  await exporter.sendCommand('begin', EMPTY_RESPONSE);
  const { latenciesMs } = await scraper.sendCommand('scrape', SCRAPES_RESPONSE);
  const { cpuShare } = await exporter.sendCommand('end', USAGE_RESPONSE);
  const after = await sumPollDurations(url);
  const meanPollMs = (1000 * (after.seconds - before.seconds)) / (after.polls - before.polls);
  return { cpuShare, meanPollMs, p99Ms: quantile(latenciesMs, 0.99) };
}

async function sumPollDurations(url: string): Promise<{ readonly seconds: number; readonly polls: number }> {
  const text = await (await fetch(`${url}/metrics`)).text();
  const sum = (suffix: string): number =>
    [
      ...text.matchAll(new RegExp(`^xvs_exporter_poll_duration_seconds_${suffix}\\{.*\\} (.+)$`, 'gm')),
    ].reduce((total, [, value]) => total + Number(value), 0);
  return { seconds: sum('sum'), polls: sum('count') };
}
