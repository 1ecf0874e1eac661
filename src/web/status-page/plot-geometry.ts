import type { PollHistoryEntry } from '../../poller/poll-history.ts';
import { trusted, type Markup } from './markup.ts';
import type { PlottedField } from './plotted-fields.ts';

/** Units of the SVG view box, which stretches to the size of the element. */
export const PLOT_WIDTH = 600;
export const PLOT_HEIGHT = 100;
/** Keeps the stroke within the view box at the highest and at the lowest value. */
const MARGIN = 5;
const TICK_HEIGHT = 25;
/** If the values vary by less than this part of the maximum, a scale from zero shows a straight line. */
const MIN_VARIATION = 0.25;

/** The values at the bottom and at the top of a plot. */
interface Scale {
  readonly bottom: number;
  readonly top: number;
}

/** A poll in a plot, in units of the view box. */
interface PlotPoint {
  readonly entry: PollHistoryEntry;
  readonly value: number | undefined;
  readonly x: number;
  /** `undefined` without a value. */
  readonly y: number | undefined;
}

export interface Plot {
  readonly points: readonly PlotPoint[];
  readonly scale: Scale;
  /** The first poll with the highest value; `undefined` if no value is known. */
  readonly highest: PlotPoint | undefined;
}

/** Places the values of a field over the remembered polls. `fitsData` lets the scale start above zero. */
export function computePlot(
  history: readonly PollHistoryEntry[],
  field: PlottedField,
  { fitsData }: { readonly fitsData: boolean },
): Plot {
  const spanMs = history[0]?.beforeLatestMs ?? 0;
  const values = history.map(({ totals }) => totals?.[field]);
  const known = values.filter((value) => value !== undefined);
  const scale = computeScale(Math.min(...known), Math.max(0, ...known), fitsData);
  const points = history.map((entry, index): PlotPoint => {
    const value = values[index];
    // Whole numbers keep the page small.
    const x = spanMs === 0 ? PLOT_WIDTH : Math.round(PLOT_WIDTH * (1 - entry.beforeLatestMs / spanMs));
    return { entry, value, x, y: value === undefined ? undefined : computeY(value, scale) };
  });
  const highest = points.find(({ value }) => value === scale.top);
  return { points, scale, highest };
}

function computeScale(min: number, max: number, fitsData: boolean): Scale {
  const isFlatFromZero = max > min && max - min < MIN_VARIATION * max;
  return { bottom: fitsData && isFlatFromZero ? min : 0, top: max };
}

function computeY(value: number, { bottom, top }: Scale): number {
  const part = top === bottom ? 0 : (value - bottom) / (top - bottom);
  return PLOT_HEIGHT - MARGIN - Math.round((PLOT_HEIGHT - 2 * MARGIN) * part);
}

/** The line, with a gap where a poll failed or a rate is unknown, and ticks at the bottom for failed polls. */
export function renderPaths({ points }: Plot): Markup {
  let line = '';
  let failed = '';
  let isDrawing = false;
  for (const { entry, x, y } of points) {
    if (entry.error !== undefined) failed += `M${x} ${PLOT_HEIGHT}v-${TICK_HEIGHT}`;
    // "h0" starts each stretch with a line of no length, whose round caps draw a dot for a single point.
    if (y !== undefined) line += `${isDrawing ? 'L' : 'M'}${x} ${y}${isDrawing ? '' : 'h0'}`;
    isDrawing = y !== undefined;
  }
  return trusted(formatPath('line', line) + formatPath('failed', failed));
}

function formatPath(className: string, d: string): string {
  return d === '' ? '' : `<path class="${className}" d="${d}"/>`;
}
