import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { ADDRESS_RESPONSE, EMPTY_RESPONSE, USAGE_RESPONSE, Child } from './child.ts';
import { compare, type Comparison } from './measure.ts';
import { createExporterEnv, type BodySize } from './served-body.ts';

/** The number of service codes, the size of their listings, and the duration. */
export interface CodesSize extends BodySize {
  readonly codes: number;
  readonly intervalMs: number;
  /** Measured rounds of polls, after the first ones. */
  readonly rounds: number;
}

const SIZE: CodesSize = { codes: 1000, users: 100, tasks: 20, intervalMs: 15_000, rounds: 3 };
const WARM_UP_ROUNDS = 2;

/**
 * Polls many service codes of one simulator with an exporter, with one that keeps its state on disk, and with a program that
 * requests the listings and discards them, all at the same time.
 */
export async function benchCodes(size: CodesSize = SIZE): Promise<Comparison[]> {
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
  const folder = mkdtempSync(join(tmpdir(), 'xvs-bench-'));
  try {
    await using exporter = await Child.start('exporter', { env });
    await using persisting = await Child.start('exporter', {
      env: { ...env, XVS_STATE_PATH: join(folder, 'state') },
    });
    await using requesting = await Child.start('requesting', { env });
    const [own, withState, reference] = await measureUsage([exporter, persisting, requesting], size);
    await assertAllUp(exporter, size.codes);
    await assertAllUp(persisting, size.codes);
    return compareUsage(size, own, withState, reference);
  } finally {
    rmSync(folder, { recursive: true });
  }
}

interface Usage {
  readonly cpuShare: number;
  readonly peakRssMb: number;
}

async function measureUsage(
  children: readonly Child[],
  { intervalMs, rounds }: CodesSize,
): Promise<readonly Usage[]> {
  await delay(WARM_UP_ROUNDS * intervalMs);
  await Promise.all(children.map((child) => child.sendCommand('begin', EMPTY_RESPONSE)));
  await delay(rounds * intervalMs);
  return await Promise.all(children.map((child) => child.sendCommand('end', USAGE_RESPONSE)));
}

const NO_USAGE: Usage = { cpuShare: Number.NaN, peakRssMb: Number.NaN };

function compareUsage(
  { codes, intervalMs }: CodesSize,
  own = NO_USAGE,
  withState = NO_USAGE,
  requesting = NO_USAGE,
): Comparison[] {
  const name = `${codes} service codes every ${intervalMs / 1000} s`;
  const reference = 'requesting and discarding';
  const share = ({ cpuShare }: Usage) => 100 * cpuShare;
  return [
    compare(
      { name: `${name}, CPU`, unit: '%', value: share(own), reference, referenceValue: share(requesting) },
      { measure: 'excess', direction: 'at most', bound: 1 },
    ),
    compare(
      {
        name: `${name}, CPU with state on disk`,
        unit: '%',
        value: share(withState),
        reference: 'without',
        referenceValue: share(own),
      },
      { measure: 'excess', direction: 'at most', bound: 2 },
    ),
    compare(
      {
        name: `${name}, peak memory`,
        unit: 'MB',
        value: own.peakRssMb,
        reference,
        referenceValue: requesting.peakRssMb,
      },
      { measure: 'value', direction: 'at most', bound: 180 },
    ),
  ];
}

/** Checks that the measured polls were good ones. */
async function assertAllUp(exporter: Child, codes: number): Promise<void> {
  const { url } = await exporter.sendCommand('address', ADDRESS_RESPONSE);
  const text = await (await fetch(`${url}/metrics`)).text();
  const up = text.match(/^xvs_up\{.*\} 1$/gm)?.length ?? 0;
  if (up !== codes) throw new Error(`Expected ${codes} service codes to be up, found ${up}`);
}
