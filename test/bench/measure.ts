/** What a goal is set for: the figure itself, or what it is beside the reference's. */
type Measure = 'value' | 'ratio' | 'saving' | 'excess';

/** What a figure is held to; without a bound it only tells. */
export interface Goal {
  readonly measure: Measure;
  /** Whether less of it is better, or more. */
  readonly direction: 'at most' | 'at least';
  readonly bound?: number;
}

/** Figures of one run. */
export interface Measurement {
  readonly name: string;
  readonly unit: string;
  /** A median, unless the name says otherwise. */
  readonly value: number;
  /** What it is compared with, where it is not held to a bound of its own. */
  readonly reference?: string;
  readonly referenceValue?: number;
}

/** Figures and what was to be reached, as they stand in a row of the table. */
export interface Comparison extends Measurement {
  /** What the goal is set for, computed from the figures. */
  readonly figure: number;
  /** `×`, or the unit of the figures. */
  readonly figureUnit: string;
  readonly direction: Goal['direction'];
  readonly goal?: number;
  readonly isMet?: boolean;
}

const MEASURES: Readonly<Record<Measure, (value: number, reference: number) => number>> = {
  value: (value) => value,
  ratio: (value, reference) => value / reference,
  saving: (value, reference) => reference / value,
  excess: (value, reference) => value - reference,
};

/** Holds figures to a goal. */
export function compare(figures: Measurement, { measure, direction, bound }: Goal): Comparison {
  const figure = MEASURES[measure](figures.value, figures.referenceValue ?? Number.NaN);
  return {
    ...figures,
    figure,
    figureUnit: measure === 'ratio' || measure === 'saving' ? '×' : figures.unit,
    direction,
    ...(bound !== undefined && {
      goal: bound,
      isMet: direction === 'at most' ? figure <= bound : figure >= bound,
    }),
  };
}

/** Something to measure. */
export type Run = () => unknown;

/** Processor time of a run in milliseconds: user and system, the collector's threads among it. */
export async function measureCpuMs(run: Run): Promise<number> {
  const before = process.cpuUsage();
  await run();
  const { user, system } = process.cpuUsage(before);
  return (user + system) / 1000;
}

/**
 * Takes figures in turn, after a round that does not count, and returns their medians: what slows the machine down for a
 * while slows all of them.
 */
export async function measureAlternating(
  rounds: number,
  takes: readonly (() => number | Promise<number>)[],
): Promise<number[]> {
  for (const take of takes) await take();
  return await measureInterleaved(rounds, takes);
}

/** The same without a round that does not count. */
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

/** The smallest of the values that is not below this part of them. */
export function quantile(values: readonly number[], part: number): number {
  const sorted = values.toSorted((a, b) => a - b);
  return sorted[Math.max(0, Math.ceil(part * sorted.length) - 1)] ?? Number.NaN;
}
