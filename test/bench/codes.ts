import { setTimeout as delay } from 'node:timers/promises';
import { z } from 'zod';
import { ADDRESS_RESPONSE, EMPTY_RESPONSE, USAGE_RESPONSE } from './child-responses.ts';
import { Child } from './child.ts';
import { compare, type Comparison, type Goal } from './measure.ts';
import { createExporterEnv, type BodySize } from './polling-process.ts';

/** The number of service codes, the size of their listings, and the duration. */
export interface CodesSize extends BodySize {
  readonly codes: number;
  readonly intervalMs: number;
  /** Measured rounds of polls, after the first one. */
  readonly rounds: number;
}

export const CODES_SIZE: CodesSize = { codes: 1000, users: 100, tasks: 20, intervalMs: 15_000, rounds: 2 };
const CALLS_RESPONSE = z.object({ calls: z.array(z.number()) });
const CPU_GOAL: Goal = { measure: 'excess', direction: 'at most', bound: 1 };
const MEMORY_GOAL: Goal = { measure: 'value', direction: 'at most', bound: 180 };
const SPREAD_GOAL: Goal = { measure: 'ratio', direction: 'at most', bound: 2 };

/** Compares an exporter that polls many service codes of a simulator with a program that only requests the listings. */
export async function benchCodes(size: CodesSize = CODES_SIZE): Promise<Comparison[]> {
  const codes = Array.from({ length: size.codes }, (_, number) => `CODE${number}`).join(',');
  await using simulator = await Child.start('simulating', {
    args: [codes, String(size.users), String(size.tasks)],
  });
  const { url } = await simulator.sendCommand('address', ADDRESS_RESPONSE);
  const env = {
    ...createExporterEnv(url),
    XVS_SERVICE_CODES: codes,
    XVS_POLL_INTERVAL: `${size.intervalMs}ms`,
  };
  const { cpuShare, peakRssMb, calls } = await measureExporter(simulator, env, size);
  const requesting = await measureRequesting(env, size);
  const name = `${size.codes} service codes every ${size.intervalMs / 1000} s`;
  const reference = 'requesting and discarding';
  return [
    compare(
      {
        name: `${name}, share of a core`,
        unit: '%',
        value: 100 * cpuShare,
        reference,
        referenceValue: 100 * requesting.cpuShare,
      },
      CPU_GOAL,
    ),
    compare(
      {
        name: `${name}, peak memory`,
        unit: 'MB',
        value: peakRssMb,
        reference,
        referenceValue: requesting.peakRssMb,
      },
      MEMORY_GOAL,
    ),
    compare(
      {
        name: `${name}, most polls in a second`,
        unit: 'polls',
        value: Math.max(...calls),
        reference: 'mean',
        referenceValue: calls.reduce((sum, count) => sum + count, 0) / calls.length,
      },
      SPREAD_GOAL,
    ),
  ];
}

type Environment = Readonly<Record<string, string>>;

async function measureExporter(simulator: Child, env: Environment, size: CodesSize) {
  await using exporter = await Child.start('exporter', { env });
  const { url } = await exporter.sendCommand('address', ADDRESS_RESPONSE);
  await waitUntilReady(url, Date.now() + 2 * size.intervalMs);
  await Promise.all([
    simulator.sendCommand('begin', EMPTY_RESPONSE),
    exporter.sendCommand('begin', EMPTY_RESPONSE),
  ]);
  await delay(size.rounds * size.intervalMs);
  const usage = await exporter.sendCommand('end', USAGE_RESPONSE);
  const { calls } = await simulator.sendCommand('end', CALLS_RESPONSE);
  await assertAllUp(url, size.codes);
  return { ...usage, calls };
}

async function measureRequesting(env: Environment, { intervalMs, rounds }: CodesSize) {
  await using requesting = await Child.start('requesting', { env });
  await delay(2 * intervalMs);
  await requesting.sendCommand('begin', EMPTY_RESPONSE);
  await delay(rounds * intervalMs);
  return await requesting.sendCommand('end', USAGE_RESPONSE);
}

/** Waits until the first round of polls is over. */
export async function waitUntilReady(url: string, deadlineMs: number): Promise<void> {
  while (!(await fetch(`${url}/-/ready`)).ok) {
    if (Date.now() > deadlineMs) throw new Error('Expected the first round of polls to be over by now');
    await delay(100);
  }
}

/** Checks that the measured polls were good ones. */
async function assertAllUp(url: string, codes: number): Promise<void> {
  const text = await (await fetch(`${url}/metrics`)).text();
  const up = text.match(/^xvs_up\{.*\} 1$/gm)?.length ?? 0;
  if (up !== codes) throw new Error(`Expected ${codes} service codes to be up, found ${up}`);
}
