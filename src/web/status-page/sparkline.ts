import type { PollHistoryEntry } from '../../poller/poll-history.ts';
import { formatClockTime } from './human-units.ts';
import { html, type Markup } from './markup.ts';
import { computePlot, PLOT_HEIGHT, PLOT_WIDTH, renderPaths } from './plot-geometry.ts';
import type { PlottedFieldDisplay } from './plotted-fields.ts';

/**
 * A small plot from zero up, below its number, with the maximum beside it and the times in the tooltip. Hidden from
 * screen readers, which read the number. A plot without a line has no baseline, which would look like zero.
 */
export function renderSparkline(
  history: readonly PollHistoryEntry[],
  { title, field, formatValue }: PlottedFieldDisplay,
  latestMs: number | undefined,
): Markup {
  const plot = computePlot(history, field, { fitsData: false });
  const { highest } = plot;
  const toTime = ({ beforeLatestMs }: PollHistoryEntry): string =>
    formatClockTime((latestMs ?? 0) - beforeLatestMs);
  const [first, last] = [plot.points.at(0), plot.points.at(-1)];
  if (first === undefined || last === undefined) return html``;
  const formatPoint = ({ entry, value }: typeof first): string =>
    `${toTime(entry)} ${value === undefined ? (entry.error ?? 'unknown') : formatValue(value)}`;
  const maximum = highest === undefined ? '' : `; maximum ${formatPoint(highest)}`;
  return html`<span class="plotted" aria-hidden="true"
    >${highest?.value === undefined ? '' : html`<span class="maximum">max ${formatValue(highest.value)}</span>`}<svg
      class="${highest === undefined ? 'plot empty' : 'plot'}"
      viewBox="0 0 ${PLOT_WIDTH} ${PLOT_HEIGHT}"
      preserveAspectRatio="none"
      focusable="false"
    >
      <title>${title}: ${formatPoint(first)} to ${formatPoint(last)}${maximum} (UTC)</title>
      ${renderPaths(plot)}
    </svg></span
  >`;
}
