import { writeFileSync } from 'node:fs';
import { setTimeout as delay } from 'node:timers/promises';
import { Program, PROGRAM_PATH } from '../support/program.ts';
import { SHIPPED } from '../support/shipped.ts';
import { TemporaryFolder } from '../support/temporary-folder.ts';
import { ADDRESS_RESPONSE, EMPTY_RESPONSE, USAGE_RESPONSE, Child } from './child.ts';
import { compare, type Comparison } from './measure.ts';
import { createExporterEnv } from './served-body.ts';

const CODES = Array.from({ length: 1000 }, (_, number) => `CODE${number}`);
const INTERVAL_MS = 15_000;
const DAY_MS = 86_400_000;
const USERS = 100;
const TASKS = 20;
/** A name that is expected, and its minima. */
const NAME = 'main';
const EXPECTATION = { name: NAME, min_input_rate: '3Mbit/s', outputs: 3 };
const WARM_UP_ROUNDS = 2;
const MEASURED_ROUNDS = 3;

/**
 * Polls many service codes of one simulator with an exporter, with one that keeps its state on disk, and with
 * a program that requests the listings and discards them, all at the same time and with the options of
 * Node.js that are shipped.
 */
export async function benchCodes(): Promise<Comparison[]> {
  const codes = CODES.join(',');
  await using simulator = await Child.start('simulating', { args: [codes, String(USERS), String(TASKS)] });
  const { url } = await simulator.sendCommand('address', ADDRESS_RESPONSE);
  const env = {
    ...createExporterEnv(url),
    XVS_SERVICE_CODES: codes,
    XVS_POLL_INTERVAL: `${INTERVAL_MS}ms`,
  };
  using folder = new TemporaryFolder();
  const execArgv = SHIPPED.nodeFlags;
  await using exporter = await Child.start('exporter', { env, execArgv });
  await using persisting = await Child.start('exporter', {
    env: { ...env, XVS_STATE_PATH: folder.at('state') },
    execArgv,
  });
  await using requesting = await Child.start('requesting', { env, execArgv });
  const [own, withState, reference] = await measureUsage([exporter, persisting, requesting]);
  const series = await countSeriesOfCode(exporter);
  await countSeriesOfCode(persisting);
  return [
    ...compareUsage(own, withState, reference),
    compareSeries(`a service code of ${USERS} users and ${TASKS} tasks`, series, 275),
    compareSeries('an expected name, with its minima', await countSeriesOfName(), 10),
  ];
}

interface Usage {
  readonly cpuShare: number;
  readonly peakRssMb: number;
  readonly writtenBytesPerMs: number;
}

async function measureUsage(children: readonly Child[]): Promise<readonly Usage[]> {
  await delay(WARM_UP_ROUNDS * INTERVAL_MS);
  await Promise.all(children.map((child) => child.sendCommand('begin', EMPTY_RESPONSE)));
  await delay(MEASURED_ROUNDS * INTERVAL_MS);
  return await Promise.all(children.map((child) => child.sendCommand('end', USAGE_RESPONSE)));
}

const NO_USAGE: Usage = { cpuShare: Number.NaN, peakRssMb: Number.NaN, writtenBytesPerMs: Number.NaN };

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
    compare(
      {
        name: `${name}, written in a day with state on disk`,
        unit: 'GB',
        value: (withState.writtenBytesPerMs * DAY_MS) / 1e9,
      },
      { measure: 'value', direction: 'at most', bound: 75 },
    ),
  ];
}

function compareSeries(subject: string, value: number, bound: number): Comparison {
  const figures = { name: `series of ${subject}`, unit: 'series', value };
  return compare(figures, { measure: 'value', direction: 'at most', bound });
}

/** The mean number of series that have a service code. Throws if the measured polls were not good ones. */
async function countSeriesOfCode(exporter: Child): Promise<number> {
  const { url } = await exporter.sendCommand('address', ADDRESS_RESPONSE);
  const text = await (await fetch(`${url}/metrics`)).text();
  const up = countLines(text, /^xvs_up\{.*\} 1$/gm);
  if (up !== CODES.length) throw new Error(`Expected ${CODES.length} service codes to be up, found ${up}`);
  return countLines(text, /^[^#].*[{,]service_code="/gm) / CODES.length;
}

/** The number of series that an expected name adds to its service code once it runs. */
async function countSeriesOfName(): Promise<number> {
  await using simulator = await Child.start('simulating', {
    args: ['T', String(USERS), String(TASKS), NAME],
  });
  const { url } = await simulator.sendCommand('address', ADDRESS_RESPONSE);
  using folder = new TemporaryFolder();
  const configuration = {
    upstream: { base_url: url },
    secret: 'abc',
    service_codes: [{ service_code: 'T', expect: { names: [EXPECTATION] } }],
    poll: { interval: '1s' },
    tasks: { name: 'opaque.room' },
    web: { listen_address: '127.0.0.1:0' },
  };
  writeFileSync(folder.at('config.yml'), JSON.stringify(configuration));
  await using exporter = new Program(process.execPath, [
    PROGRAM_PATH,
    `--config.file=${folder.at('config.yml')}`,
  ]);
  const metricsUrl = `http://127.0.0.1:${await exporter.waitForPort()}/metrics`;
  for (let tries = 0; tries < 60; tries += 1) {
    const text = await (await fetch(metricsUrl)).text();
    if (/^xvs_expected_task_up\{.*\} 1$/m.test(text)) return countLines(text, /[{,]task_name="/g);
    await delay(1000);
  }
  throw new Error(`Expected ${NAME} to run within a minute`);
}

const countLines = (text: string, pattern: RegExp): number => text.match(pattern)?.length ?? 0;
