import type { PlottedFigures, PollPoint } from '../../poller/poll-history.ts';
import { html, trusted, type Markup } from './markup.ts';

export type PlottedFigure = keyof PlottedFigures;

/** In the units of the picture, which is stretched to its place. */
const WIDTH = 600;
const HEIGHT = 100;
/** Room for the stroke above the highest value and below zero. */
const MARGIN = 5;
const TICK = 25;

/**
 * A small plot of one figure over the remembered polls, from zero up. Where a poll failed, or a rate is not known,
 * the line has a gap; polls that failed are ticks at the bottom. Without a line there is no ground either: it would look
 * like zero. Says nothing to a screen reader: the number beside it
 * does.
 */
export function plot(points: readonly PollPoint[], figure: PlottedFigure, className = 'plot'): Markup {
  const spanMs = points[0]?.beforeLatestMs ?? 0;
  const values = points.map(({ figures }) => figures?.[figure]);
  const top = Math.max(0, ...values.map((value) => value ?? 0));
  // Whole numbers: quicker to write, and shorter.
  const x = ({ beforeLatestMs }: PollPoint): number =>
    spanMs === 0 ? WIDTH : Math.round(WIDTH * (1 - beforeLatestMs / spanMs));
  const y = (value: number): number =>
    HEIGHT - MARGIN - (top === 0 ? 0 : Math.round(((HEIGHT - 2 * MARGIN) * value) / top));
  let line = '';
  let failed = '';
  let isDrawing = false;
  points.forEach((point, index) => {
    const value = values[index];
    if (point.error !== undefined) failed += `M${x(point)} ${HEIGHT}v-${TICK}`;
    // A point between two gaps is a line of no length: its round ends make it a dot.
    if (value !== undefined)
      line += `${isDrawing ? 'L' : 'M'}${x(point)} ${y(value)}${isDrawing ? '' : 'h0'}`;
    isDrawing = value !== undefined;
  });
  return html`<svg
    class="${line === '' ? `${className} empty` : className}"
    viewBox="0 0 ${WIDTH} ${HEIGHT}"
    preserveAspectRatio="none"
    aria-hidden="true"
    focusable="false"
  >
    ${path('line', line)}${path('failed', failed)}
  </svg>`;
}

function path(className: string, d: string): Markup | undefined {
  return d === '' ? undefined : trusted(`<path class="${className}" d="${d}"/>`);
}

/** The least and the most that is known of a figure over the remembered polls. */
export function rangeOf(
  points: readonly PollPoint[],
  figure: PlottedFigure,
): { readonly least: number; readonly most: number } | undefined {
  const known = points.flatMap(({ figures }) => figures?.[figure] ?? []);
  return known.length === 0 ? undefined : { least: Math.min(...known), most: Math.max(...known) };
}
