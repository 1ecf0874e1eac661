import {
  measureAlternating,
  compare,
  measureInterleaved,
  quantile,
  type Comparison,
  type Measurement,
  type Goal,
} from './measure.ts';
import { PollingProcess, serveBody, type BodySize, type ServedBody } from './polling-process.ts';

/** What is polled, and how often. */
export interface PollingSize extends BodySize {
  /** Processes of each kind, of which the first polls are compared. */
  readonly processes: number;
  /** Later polls of one process of each kind. */
  readonly rounds: number;
  /** Polls of the exporter until its heap has been as large as it gets. */
  readonly warmUpPolls: number;
  /** Numbers of users between which memory is to be flat. */
  readonly fewUsers: number;
  readonly manyUsers: number;
}

const SIZE: PollingSize = {
  users: 1_400_000,
  tasks: 12_000,
  processes: 3,
  rounds: 4,
  warmUpPolls: 12,
  fewUsers: 10_000,
  manyUsers: 1_000_000,
};

const DISCARDING = 'reading and discarding';
const PARSING = 'JSON.parse and counting';
const GUNZIP = 'gunzip and discarding';

const OVER_DISCARDING_GOAL: Goal = { measure: 'ratio', direction: 'at most', bound: 2.2 };
const OVER_PARSING_GOAL: Goal = { measure: 'ratio', direction: 'at most', bound: 1 / 3 };
const MEMORY_OVER_DISCARDING_GOAL: Goal = { measure: 'excess', direction: 'at most', bound: 48 };
const FLAT_MEMORY_GOAL: Goal = { measure: 'excess', direction: 'at most', bound: 10 };
const SPEED_OVER_GUNZIP_GOAL: Goal = { measure: 'ratio', direction: 'at least', bound: 0.6 };

/** Whole polls over loopback, by processes that measure themselves. */
export async function benchPolling(size: PollingSize = SIZE): Promise<Comparison[]> {
  return [...(await benchPlain(size)), ...(await benchFlatness(size)), ...(await benchGzipped(size))];
}

/**
 * The first poll of a process has its code still to be compiled, for the reference as for the exporter; an exporter runs
 * for months, and so its later polls are compared too.
 */
async function benchPlain(size: PollingSize): Promise<Comparison[]> {
  await using body = await serveBody(size);
  await using own = await PollingProcess.start('exporter-polls', body.url);
  await using discarding = await PollingProcess.start('discarding', body.url);
  await using parsing = await PollingProcess.start('parsing', body.url);
  const name = `${body.megabytes.toFixed(0)} MB`;
  const kinds = ['exporter-polls', 'discarding', 'parsing'];
  const peaksMb = new Map<string, number[]>();
  const first = await measureInterleaved(
    size.processes,
    kinds.map((kind) => async () => {
      const { cpuMs, peakRssMb } = await measureFirstPoll(kind, body);
      peaksMb.set(kind, [...(peaksMb.get(kind) ?? []), peakRssMb]);
      return cpuMs;
    }),
  );
  const [value = Number.NaN, referenceValue = Number.NaN] = kinds.map((kind) =>
    quantile(peaksMb.get(kind) ?? [], 0.5),
  );
  const later = await measureAlternating(
    size.rounds,
    [own, discarding, parsing].map((polling) => async () => (await polling.poll()).cpuMs),
  );
  return [
    ...compareCpu(`first poll of ${name}, processor time`, first, OVER_DISCARDING_GOAL),
    // Discarding has next to nothing left to do then: what is gained on it says little, and has no goal.
    ...compareCpu(`later polls of ${name}, processor time`, later, {
      measure: 'ratio',
      direction: 'at most',
    }),
    compare(
      {
        name: `first poll of ${name}, peak memory`,
        unit: 'MB',
        value,
        reference: DISCARDING,
        referenceValue,
      },
      MEMORY_OVER_DISCARDING_GOAL,
    ),
    await compareMemory(`later polls of ${name}, peak memory`, own, discarding, size.warmUpPolls),
  ];
}

/** What the first poll of a process takes. */
async function measureFirstPoll(
  kind: string,
  { url }: ServedBody,
): Promise<{ readonly cpuMs: number; readonly peakRssMb: number }> {
  await using fresh = await PollingProcess.start(kind, url);
  const { cpuMs } = await fresh.poll();
  return { cpuMs, peakRssMb: await fresh.getPeakRssMb() };
}

function compareCpu(
  name: string,
  [own = 0, discarding = 0, parsing = 0]: readonly number[],
  overDiscarding: Goal,
): Comparison[] {
  const figures: Measurement = { name, unit: 'ms', value: own };
  return [
    compare({ ...figures, reference: DISCARDING, referenceValue: discarding }, overDiscarding),
    compare({ ...figures, reference: PARSING, referenceValue: parsing }, OVER_PARSING_GOAL),
  ];
}

/** Once both have polled so often that no garbage is left to pile up. */
async function compareMemory(
  name: string,
  own: PollingProcess,
  discarding: PollingProcess,
  life: number,
): Promise<Comparison> {
  const value = await measurePeakMbAfter(own, life);
  const referenceValue = await measurePeakMbAfter(discarding, life);
  const figures = { name, unit: 'MB', value, reference: DISCARDING, referenceValue };
  return compare(figures, { measure: 'excess', direction: 'at most' });
}

/** As many bytes in all with few users as with many: what the heap grows to depends on what has passed through it. */
async function benchFlatness({ fewUsers, manyUsers, rounds }: PollingSize): Promise<Comparison[]> {
  const many = await measurePeakMb({ users: manyUsers, tasks: 100 }, rounds);
  const few = await measurePeakMb({ users: fewUsers, tasks: 100 }, (rounds * manyUsers) / fewUsers);
  const figures = {
    name: `peak memory, ${manyUsers} users`,
    unit: 'MB',
    value: many,
    reference: `${fewUsers} users`,
    referenceValue: few,
  };
  return [compare(figures, FLAT_MEMORY_GOAL)];
}

async function measurePeakMb(size: BodySize, polls: number): Promise<number> {
  await using body = await serveBody(size);
  await using polling = await PollingProcess.start('exporter-polls', body.url);
  return await measurePeakMbAfter(polling, polls);
}

async function measurePeakMbAfter(polling: PollingProcess, polls: number): Promise<number> {
  for (let poll = 0; poll < polls; poll += 1) await polling.poll();
  return await polling.getPeakRssMb();
}

/**
 * The speed at which the listing arrives, by the clock and not by processor time: zlib works in a thread beside the one
 * that reads, for the reference as for the exporter, and what matters is whether reading keeps up with it. Processor
 * times would add up, and compare reading with nothing.
 */
async function benchGzipped(size: PollingSize): Promise<Comparison[]> {
  await using body = await serveBody(size, 'gzip');
  await using own = await PollingProcess.start('exporter-polls', body.url);
  await using gunzip = await PollingProcess.start('discarding', body.url);
  const [ownSpeed = 0, gunzipSpeed = 0] = await measureAlternating(
    size.rounds,
    [own, gunzip].map((polling) => async () => (body.megabytes / (await polling.poll()).wallMs) * 1000),
  );
  const figures = {
    name: `later polls of ${body.megabytes.toFixed(0)} MB gzipped, by the clock`,
    unit: 'MB/s',
    value: ownSpeed,
    reference: GUNZIP,
    referenceValue: gunzipSpeed,
  };
  return [compare(figures, SPEED_OVER_GUNZIP_GOAL)];
}
