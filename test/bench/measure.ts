/** How a figure is compared: by itself, or with that of the reference. */
type Measure = 'value' | 'ratio' | 'excess';

/** The goal of a figure. */
export interface Goal {
  readonly measure: Measure;
  /** Whether a smaller or a larger figure is better. */
  readonly direction: 'at most' | 'at least';
  readonly bound: number;
}

/** Figures of one run. */
export interface Measurement {
  readonly name: string;
  readonly unit: string;
  /** A median, unless the name says otherwise. */
  readonly value: number;
  /** Name of what it is compared with. */
  readonly reference?: string;
  readonly referenceValue?: number;
}

/** A measurement with its goal: a row of the table. */
export interface Comparison extends Measurement {
  /** The figure that the goal bounds. */
  readonly figure: number;
  /** `×`, or the unit of the figures. */
  readonly figureUnit: string;
  readonly direction: Goal['direction'];
  readonly goal: number;
  readonly isMet: boolean;
}

const MEASURES: Readonly<Record<Measure, (value: number, reference: number) => number>> = {
  value: (value) => value,
  ratio: (value, reference) => value / reference,
  excess: (value, reference) => value - reference,
};

/** Compares a measurement with its goal. */
export function compare(figures: Measurement, { measure, direction, bound }: Goal): Comparison {
  const figure = MEASURES[measure](figures.value, figures.referenceValue ?? Number.NaN);
  return {
    ...figures,
    figure,
    figureUnit: measure === 'ratio' ? '×' : figures.unit,
    direction,
    goal: bound,
    isMet: direction === 'at most' ? figure <= bound : figure >= bound,
  };
}

/** A function to measure. */
export type Run = () => unknown;

/** Measures the processor time of a run in milliseconds: user and system, of all threads. */
export async function measureCpuMs(run: Run): Promise<number> {
  const before = process.cpuUsage();
  await run();
  const { user, system } = process.cpuUsage(before);
  return (user + system) / 1000;
}

/**
 * Takes measurements in turn and returns their medians, so that a slow phase of the machine affects all of
 * them. The first round is a warm-up.
 */
export async function measureAlternating(
  rounds: number,
  takes: readonly (() => number | Promise<number>)[],
): Promise<number[]> {
  for (const take of takes) await take();
  return await measureInterleaved(rounds, takes);
}

/** The same without a warm-up. */
export async function measureInterleaved(
  rounds: number,
  takes: readonly (() => number | Promise<number>)[],
): Promise<number[]> {
  const figures = takes.map((): number[] => []);
  for (let round = 0; round < rounds; round += 1) {
    for (const [index, take] of takes.entries()) figures[index]?.push(await take());
  }
  return figures.map((taken) => quantile(taken, 0.5));
}

/** Returns a quantile: the smallest value that is at least as large as `part` of the values. */
export function quantile(values: readonly number[], part: number): number {
  const sorted = values.toSorted((a, b) => a - b);
  return sorted[Math.max(0, Math.ceil(part * sorted.length) - 1)] ?? Number.NaN;
}
