/** A figure against the one that it is held to, from the same run. */
export interface Comparison {
  readonly name: string;
  /** What it is compared with. */
  readonly reference: string;
  readonly unit: string;
  /** Medians. */
  readonly value: number;
  readonly referenceValue: number;
  /** How many times better the subject is. */
  readonly ratio: number;
}

/** Something to measure. */
export type Run = () => unknown;

/** Processor time of a run, user and system, in milliseconds. */
async function cpuMs(run: Run): Promise<number> {
  const before = process.cpuUsage();
  await run();
  const { user, system } = process.cpuUsage(before);
  return (user + system) / 1000;
}

/** Runs things in turn, after one round that does not count; the medians of their processor times. */
export async function alternate(rounds: number, runs: readonly Run[]): Promise<number[]> {
  const times = runs.map((): number[] => []);
  for (let round = 0; round <= rounds; round += 1) {
    for (const [index, run] of runs.entries()) {
      const taken = await cpuMs(run);
      if (round > 0) times[index]?.push(taken);
    }
  }
  return times.map(median);
}

function median(values: readonly number[]): number {
  const sorted = values.toSorted((a, b) => a - b);
  return sorted[Math.floor(sorted.length / 2)] ?? Number.NaN;
}
