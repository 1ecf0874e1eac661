import type { PlottedTotals, PollHistoryEntry } from '../../poller/poll-history.ts';
import type { ServiceCodeStatus } from '../exporter-facade.ts';
import { formatBitRate, formatCount, renderKnown } from './human-units.ts';
import { html, trusted, type Markup } from './markup.ts';

export interface PlottedField {
  readonly field: keyof PlottedTotals;
  readonly title: string;
  readonly format: (value: number) => string;
}

export const PLOTTED_FIELDS: readonly PlottedField[] = [
  { field: 'users', title: 'Users', format: formatCount },
  { field: 'tasks', title: 'Tasks', format: formatCount },
  { field: 'ingress', title: 'Ingress', format: formatBitRate },
  { field: 'egress', title: 'Egress', format: formatBitRate },
  { field: 'connections', title: 'Connections', format: formatCount },
];

/** Units of the SVG view box, which stretches to the size of the element. */
const WIDTH = 600;
const HEIGHT = 100;
/** Keeps the stroke within the view box at the highest and at the lowest value. */
const MARGIN = 5;
const TICK_HEIGHT = 25;

export function hasValues(history: readonly PollHistoryEntry[]): boolean {
  return history.some(({ totals }) => totals !== undefined);
}

/** The last value of a field with its plot, which is missing if no remembered poll has values. */
export function renderPlotted(
  { totals }: ServiceCodeStatus,
  history: readonly PollHistoryEntry[],
  plotted: PlottedField,
): Markup {
  return html`<span class="value">${renderKnown(totals?.[plotted.field], plotted.format)}</span>
    ${hasValues(history) ? renderPlot(history, plotted) : ''}`;
}

/** Plots a field from zero, the maximum above the line; hidden from screen readers, which read the number. */
export function renderPlot(history: readonly PollHistoryEntry[], { field, format }: PlottedField): Markup {
  const known = history.flatMap(({ totals }) => totals?.[field] ?? []);
  // Bounded: the remembered polls.
  const top = Math.max(0, ...known);
  const range = known.length === 0 ? 'no data' : `max ${format(top)}`;
  return html`<span class="plotted" aria-hidden="true">
    <span class="range">${range}</span>
    <svg class="plot" viewBox="0 0 ${WIDTH} ${HEIGHT}" preserveAspectRatio="none" focusable="false">
      ${renderPaths(history, field, top)}
    </svg>
  </span>`;
}

/** The line, with gaps for failed polls and unknown rates, and ticks at the bottom for failed polls. */
function renderPaths(history: readonly PollHistoryEntry[], field: keyof PlottedTotals, top: number): Markup {
  const spanMs = history[0]?.beforeLatestMs ?? 0;
  let line = '';
  let failed = '';
  let isDrawing = false;
  for (const { beforeLatestMs, error, totals } of history) {
    // Whole numbers keep the page small.
    const x = spanMs === 0 ? WIDTH : Math.round(WIDTH * (1 - beforeLatestMs / spanMs));
    const value = totals?.[field];
    if (error !== undefined) failed += `M${x} ${HEIGHT}v-${TICK_HEIGHT}`;
    if (value !== undefined) {
      const y = HEIGHT - MARGIN - Math.round((HEIGHT - 2 * MARGIN) * (top === 0 ? 0 : value / top));
      // "h0" starts each stretch with a line of no length, whose round caps draw a dot for a single point.
      line += `${isDrawing ? 'L' : 'M'}${x} ${y}${isDrawing ? '' : 'h0'}`;
    }
    isDrawing = value !== undefined;
  }
  const toPath = (name: string, d: string): string => (d === '' ? '' : `<path class="${name}" d="${d}"/>`);
  return trusted(toPath('line', line) + toPath('failed', failed));
}
