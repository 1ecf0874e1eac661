import type { PlottedTotals, PollHistoryEntry } from '../../poller/poll-history.ts';
import { formatBitRate, formatClockTime, formatCount, renderBitRate, renderCount } from './human-units.ts';
import { html, trusted, type Markup } from './markup.ts';

/** A plotted number of a service code. */
export interface PlottedField {
  readonly field: keyof PlottedTotals;
  readonly title: string;
  readonly formatValue: (value: number) => string;
  readonly renderValue: (value: number | undefined) => Markup;
}

const COUNT = { formatValue: formatCount, renderValue: renderCount };
const BIT_RATE = { formatValue: formatBitRate, renderValue: renderBitRate };

/** In the order of the pages. */
export const PLOTTED_FIELDS: readonly PlottedField[] = [
  { field: 'users', title: 'Users', ...COUNT },
  { field: 'tasks', title: 'Tasks', ...COUNT },
  { field: 'ingress', title: 'Ingress', ...BIT_RATE },
  { field: 'egress', title: 'Egress', ...BIT_RATE },
  { field: 'connections', title: 'Connections', ...COUNT },
];

/** Units of the SVG view box, which stretches to the size of the element. */
const WIDTH = 600;
const HEIGHT = 100;
/** Keeps the stroke within the view box at the highest and at the lowest value. */
const MARGIN = 5;
const TICK_HEIGHT = 25;
/** A large plot whose values all lie above this part of the maximum starts there: its range is a quarter at least. */
const RAISED_BOTTOM = 0.75;

interface Point {
  readonly entry: PollHistoryEntry;
  readonly value: number | undefined;
  readonly x: number;
}

/** Whether a poll of the history has values to plot. */
export function hasValues(history: readonly PollHistoryEntry[]): boolean {
  return history.some(({ totals }) => totals !== undefined);
}

/**
 * Plots the values of a field over the remembered polls, with the maximum above the line. A small plot starts at zero
 * and is hidden from screen readers, which read the number beside it; a large one shows its scale, its times, and the
 * value of the poll under the pointer. `latestMs` is the time of the latest poll.
 */
export function renderPlot(
  history: readonly PollHistoryEntry[],
  { title, field, formatValue }: PlottedField,
  latestMs: number,
  size: 'small' | 'large',
): Markup {
  const spanMs = history[0]?.beforeLatestMs ?? 0;
  const points = history.map((entry): Point => {
    // Whole numbers keep the page small.
    const x = spanMs === 0 ? WIDTH : Math.round(WIDTH * (1 - entry.beforeLatestMs / spanMs));
    return { entry, value: entry.totals?.[field], x };
  });
  const known = points.flatMap(({ value }) => value ?? []);
  const top = Math.max(0, ...known);
  const isRaised = size === 'large' && known.every((value) => value > RAISED_BOTTOM * top);
  const bottom = isRaised ? RAISED_BOTTOM * top : 0;
  const maximum = known.length === 0 ? 'no data' : `max ${formatValue(top)}`;
  const range = bottom === 0 ? maximum : `${maximum}, from ${formatValue(bottom)}`;
  const toTime = ({ beforeLatestMs }: PollHistoryEntry): string => formatClockTime(latestMs - beforeLatestMs);
  const [first, last] = [formatClockTime(latestMs - spanMs), formatClockTime(latestMs)];
  const label = `${title} from ${first} to ${last} UTC: ${range}`;
  const formatPoint = ({ entry, value }: Point): string =>
    `${toTime(entry)} ${value === undefined ? (entry.error ?? 'unknown') : formatValue(value)}`;
  const svg = html`<svg
    class="plot ${size}${known.length === 0 ? ' empty' : ''}"
    viewBox="0 0 ${WIDTH} ${HEIGHT}"
    preserveAspectRatio="none"
    ${size === 'small' ? trusted('focusable="false"') : html`role="img" aria-label="${label}"`}
  >
    ${size === 'small' ? html`<title>${label}</title>` : ''} ${renderPaths(points, bottom, top)}
    ${size === 'large' ? renderAreas(points, formatPoint) : ''}
  </svg>`;
  if (size === 'small')
    return html`<span class="plotted" aria-hidden="true"><span class="range">${range}</span>${svg}</span>`;
  return html`<span class="plotted" aria-hidden="true"><span class="range">${range}</span></span>
    ${svg}
    <span class="times" aria-hidden="true"><span>${first}</span> <span>${last} UTC</span></span>`;
}

/** The line, with a gap where a poll failed or a rate is unknown, and ticks at the bottom for failed polls. */
function renderPaths(points: readonly Point[], bottom: number, top: number): Markup {
  let line = '';
  let failed = '';
  let isDrawing = false;
  for (const { entry, value, x } of points) {
    if (entry.error !== undefined) failed += `M${x} ${HEIGHT}v-${TICK_HEIGHT}`;
    if (value !== undefined) {
      const part = top === bottom ? 0 : (value - bottom) / (top - bottom);
      const y = HEIGHT - MARGIN - Math.round((HEIGHT - 2 * MARGIN) * part);
      // "h0" starts each stretch with a line of no length, whose round caps draw a dot for a single point.
      line += `${isDrawing ? 'L' : 'M'}${x} ${y}${isDrawing ? '' : 'h0'}`;
    }
    isDrawing = value !== undefined;
  }
  const toPath = (name: string, d: string): string => (d === '' ? '' : `<path class="${name}" d="${d}"/>`);
  return trusted(toPath('line', line) + toPath('failed', failed));
}

/** One area for each poll, from half-way to the poll before it to half-way to the next one, with its time and value. */
function renderAreas(points: readonly Point[], format: (point: Point) => string): Markup[] {
  return points.map((point, index) => {
    const { x } = point;
    const start = index === 0 ? 0 : ((points[index - 1]?.x ?? 0) + x) / 2;
    const end = index === points.length - 1 ? WIDTH : ((points[index + 1]?.x ?? WIDTH) + x) / 2;
    return html`<rect x="${start}" width="${Math.max(0, end - start)}" height="${HEIGHT}">
      <title>${format(point)}</title>
    </rect>`;
  });
}
