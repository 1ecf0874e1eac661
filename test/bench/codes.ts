import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { SHIPPED } from '../support/shipped.ts';
import { ADDRESS_RESPONSE, EMPTY_RESPONSE, USAGE_RESPONSE, Child } from './child.ts';
import { compare, type Comparison } from './measure.ts';
import { createExporterEnv } from './served-body.ts';

const CODES = Array.from({ length: 1000 }, (_, number) => `CODE${number}`);
const INTERVAL_MS = 15_000;
const WARM_UP_ROUNDS = 2;
const MEASURED_ROUNDS = 3;

/**
 * Polls many service codes of one simulator with an exporter, with one that keeps its state on disk, and with a program that
 * requests the listings and discards them, all at the same time and with the options of Node.js that are shipped.
 */
export async function benchCodes(): Promise<Comparison[]> {
  const codes = CODES.join(',');
  await using simulator = await Child.start('simulating', { args: [codes, '100', '20'] });
  const { url } = await simulator.sendCommand('address', ADDRESS_RESPONSE);
  const env = {
    ...createExporterEnv(url),
    XVS_SERVICE_CODES: codes,
    XVS_POLL_INTERVAL: `${INTERVAL_MS}ms`,
  };
  const folder = mkdtempSync(join(tmpdir(), 'xvs-bench-'));
  try {
    const execArgv = SHIPPED.nodeFlags;
    await using exporter = await Child.start('exporter', { env, execArgv });
    await using persisting = await Child.start('exporter', {
      env: { ...env, XVS_STATE_PATH: join(folder, 'state') },
      execArgv,
    });
    await using requesting = await Child.start('requesting', { env, execArgv });
    const [own, withState, reference] = await measureUsage([exporter, persisting, requesting]);
    await assertAllUp(exporter);
    await assertAllUp(persisting);
    return compareUsage(own, withState, reference);
  } finally {
    rmSync(folder, { recursive: true });
  }
}

interface Usage {
  readonly cpuShare: number;
  readonly peakRssMb: number;
}

async function measureUsage(children: readonly Child[]): Promise<readonly Usage[]> {
  await delay(WARM_UP_ROUNDS * INTERVAL_MS);
  await Promise.all(children.map((child) => child.sendCommand('begin', EMPTY_RESPONSE)));
  await delay(MEASURED_ROUNDS * INTERVAL_MS);
  return await Promise.all(children.map((child) => child.sendCommand('end', USAGE_RESPONSE)));
}

const NO_USAGE: Usage = { cpuShare: Number.NaN, peakRssMb: Number.NaN };

function compareUsage(own = NO_USAGE, withState = NO_USAGE, requesting = NO_USAGE): Comparison[] {
  const name = `${CODES.length} service codes every ${INTERVAL_MS / 1000} s`;
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
async function assertAllUp(exporter: Child): Promise<void> {
  const { url } = await exporter.sendCommand('address', ADDRESS_RESPONSE);
  const text = await (await fetch(`${url}/metrics`)).text();
  const up = text.match(/^xvs_up\{.*\} 1$/gm)?.length ?? 0;
  if (up !== CODES.length) throw new Error(`Expected ${CODES.length} service codes to be up, found ${up}`);
}
