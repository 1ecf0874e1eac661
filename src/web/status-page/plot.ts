import type { PlottedTotals, PollHistoryEntry } from '../../poller/poll-history.ts';
import { renderBitRate, renderCount } from './human-units.ts';
import { html, trusted, type Markup } from './markup.ts';

export type PlottedField = keyof PlottedTotals;

interface PlottedFieldDisplay {
  readonly field: PlottedField;
  readonly title: string;
  readonly renderValue: (value: number | undefined) => Markup;
}

/** The plotted fields in the order of the pages. */
export const PLOTTED_FIELDS: readonly PlottedFieldDisplay[] = [
  { field: 'users', title: 'Users', renderValue: renderCount },
  { field: 'tasks', title: 'Tasks', renderValue: renderCount },
  { field: 'ingress', title: 'Ingress', renderValue: renderBitRate },
  { field: 'egress', title: 'Egress', renderValue: renderBitRate },
  { field: 'connections', title: 'Connections', renderValue: renderCount },
];

/** Units of the SVG view box, which stretches to the size of the element. */
const WIDTH = 600;
const HEIGHT = 100;
/** Keeps the stroke within the view box at the highest value and at zero. */
const MARGIN = 5;
const TICK_HEIGHT = 25;

/**
 * A plot of one field over the remembered polls, from zero up. The line has a gap where a poll failed or a rate is
 * unknown; ticks at the bottom mark failed polls. A plot without a line has no baseline, which would look like zero.
 * Hidden from screen readers, which read the number beside it.
 */
export function renderPlot(
  history: readonly PollHistoryEntry[],
  field: PlottedField,
  className = 'plot',
): Markup {
  const spanMs = history[0]?.beforeLatestMs ?? 0;
  const values = history.map(({ totals }) => totals?.[field]);
  const max = Math.max(0, ...values.map((value) => value ?? 0));
  // Whole numbers keep the page small.
  const toX = ({ beforeLatestMs }: PollHistoryEntry): number =>
    spanMs === 0 ? WIDTH : Math.round(WIDTH * (1 - beforeLatestMs / spanMs));
  const toY = (value: number): number =>
    HEIGHT - MARGIN - (max === 0 ? 0 : Math.round(((HEIGHT - 2 * MARGIN) * value) / max));
  let line = '';
  let failed = '';
  let isDrawing = false;
  history.forEach((entry, index) => {
    const value = values[index];
    if (entry.error !== undefined) failed += `M${toX(entry)} ${HEIGHT}v-${TICK_HEIGHT}`;
    // "h0" starts each stretch with a line of no length, whose round caps draw a dot for a single point.
    if (value !== undefined)
      line += `${isDrawing ? 'L' : 'M'}${toX(entry)} ${toY(value)}${isDrawing ? '' : 'h0'}`;
    isDrawing = value !== undefined;
  });
  return html`<svg
    class="${line === '' ? `${className} empty` : className}"
    viewBox="0 0 ${WIDTH} ${HEIGHT}"
    preserveAspectRatio="none"
    aria-hidden="true"
    focusable="false"
  >
    ${renderPath('line', line)}${renderPath('failed', failed)}
  </svg>`;
}

function renderPath(className: string, d: string): Markup | undefined {
  return d === '' ? undefined : trusted(`<path class="${className}" d="${d}"/>`);
}

/** The least and the greatest known value of a field; `undefined` if none is known. */
export function findRange(
  history: readonly PollHistoryEntry[],
  field: PlottedField,
): { readonly min: number; readonly max: number } | undefined {
  const values = history.flatMap(({ totals }) => totals?.[field] ?? []);
  return values.length === 0 ? undefined : { min: Math.min(...values), max: Math.max(...values) };
}
