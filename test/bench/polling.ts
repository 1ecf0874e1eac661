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

/** The size of the polled listing and the numbers of polls. */
export interface PollingSize extends BodySize {
  /** Processes of each kind whose first polls are compared. */
  readonly processes: number;
  /** Measured later polls of one process of each kind. */
  readonly rounds: number;
  /** Polls after which the heap no longer grows. */
  readonly warmUpPolls: number;
  /** Numbers of users for which peak memory is compared. */
  readonly fewUsers: number;
  readonly manyUsers: number;
}

const SIZE: PollingSize = {
  users: 1_400_000,
  tasks: 12_000,
  processes: 3,
  rounds: 9,
  warmUpPolls: 12,
  fewUsers: 10_000,
  manyUsers: 1_000_000,
};

const DISCARDING = 'reading and discarding';
const PARSING = 'JSON.parse and counting';
const GUNZIP = 'gunzip and discarding';

const CPU_RATIO: Goal = { measure: 'ratio', direction: 'at most' };
const FIRST_POLL_GOALS: CpuGoals = {
  discarding: { ...CPU_RATIO, bound: 2 },
  parsing: { ...CPU_RATIO, bound: 0.25 },
};
const LATER_POLLS_GOALS: CpuGoals = {
  discarding: { ...CPU_RATIO, bound: 2.5 },
  parsing: { ...CPU_RATIO, bound: 0.15 },
};
const MEMORY_OVER_DISCARDING_GOAL: Goal = { measure: 'excess', direction: 'at most', bound: 32 };
const FLAT_MEMORY_GOAL: Goal = { measure: 'excess', direction: 'at most', bound: 5 };
const SPEED_OVER_GUNZIP_GOAL: Goal = { measure: 'ratio', direction: 'at least', bound: 0.8 };

/** Goals for the processor time of a poll against both references. */
interface CpuGoals {
  readonly discarding: Goal;
  readonly parsing: Goal;
}

/** Measures whole polls over loopback in processes of their own. */
export async function benchPolling(size: PollingSize = SIZE): Promise<Comparison[]> {
  return [...(await benchPlain(size)), ...(await benchFlatness(size)), ...(await benchGzipped(size))];
}

/** A first poll includes compilation by V8, for the exporter and the references alike; later polls do not. */
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
    ...compareCpu(`first poll of ${name}, processor time`, first, FIRST_POLL_GOALS),
    ...compareCpu(`later polls of ${name}, processor time`, later, LATER_POLLS_GOALS),
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

/** Starts a process and measures its first poll. */
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
  goals: CpuGoals,
): Comparison[] {
  const figures: Measurement = { name, unit: 'ms', value: own };
  return [
    compare({ ...figures, reference: DISCARDING, referenceValue: discarding }, goals.discarding),
    compare({ ...figures, reference: PARSING, referenceValue: parsing }, goals.parsing),
  ];
}

/** Compares peak memory after `life` polls, when neither heap grows any more. */
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

/** Polls the same number of bytes with few users as with many, because the heap grows with the bytes that pass through it. */
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
 * Compares by the clock: zlib decompresses in a thread of its own, in the exporter and in the reference, and the question
 * is whether reading keeps up with it.
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
