import type { PollHistoryEntry } from '../../poller/poll-history.ts';
import { formatClockTime } from './human-units.ts';
import { html, trusted, type Markup } from './markup.ts';
import { computePlot, PLOT_HEIGHT, PLOT_WIDTH, renderPaths, type Plot } from './plot-geometry.ts';
import type { PlottedFieldDisplay } from './plotted-fields.ts';

/** Part of the height above the line, for the text. */
const TEXT_PERCENT = 24;
/** Points this close to an edge, in percent of the width, have their text at that edge. */
const EDGE_PERCENT = 30;

/**
 * A large plot with its maximum and the start of its scale. Hovering over a poll shows its time and value; so does
 * focus, from the latest poll on, and the arrow keys go to the others.
 */
export function renderTimePlot(
  history: readonly PollHistoryEntry[],
  { title, field, formatValue }: PlottedFieldDisplay,
  latestMs: number | undefined,
): Markup {
  const plot = computePlot(history, field, { fitsData: true });
  const { scale, highest } = plot;
  const toTime = ({ beforeLatestMs }: PollHistoryEntry): string =>
    formatClockTime((latestMs ?? 0) - beforeLatestMs);
  const [first, last] = [history.at(0), history.at(-1)];
  if (first === undefined || last === undefined) return html`<p class="aside">no polls yet</p>`;
  const range =
    highest?.value === undefined
      ? 'no data'
      : `max ${formatValue(highest.value)}, scale from ${formatValue(scale.bottom)}`;
  const label = `${title} from ${toTime(first)} to ${toTime(last)} UTC: ${range}`;
  return html`<svg
      class="${highest === undefined ? 'plot large empty' : 'plot large'}"
      id="plot-${field}"
      role="img"
      aria-label="${label}"
      tabindex="0"
    >
      <svg
        y="${TEXT_PERCENT}%"
        height="${100 - TEXT_PERCENT}%"
        viewBox="0 0 ${PLOT_WIDTH} ${PLOT_HEIGHT}"
        preserveAspectRatio="none"
      >
        ${renderPaths(plot)}
      </svg>
      <text class="range" y="1em">${range}</text>
      ${renderPoints(plot, ({ entry, value }) => {
        const text = value === undefined ? (entry.error ?? 'unknown') : formatValue(value);
        return `${toTime(entry)} ${text}`;
      })}
    </svg>
    <span class="times"><span>${toTime(first)}</span> <span>${toTime(last)} UTC</span></span>`;
}

/** One area for each poll, from half-way to the poll before it to half-way to the next one. */
function renderPoints({ points }: Plot, format: (point: Plot['points'][number]) => string): Markup {
  const toPercent = (x: number): number => Math.round((1000 * x) / PLOT_WIDTH) / 10;
  const texts = points.map((point, index) => {
    const { x, y } = point;
    const start = index === 0 ? 0 : toPercent((x + (points[index - 1]?.x ?? 0)) / 2);
    const end = index === points.length - 1 ? 100 : toPercent((x + (points[index + 1]?.x ?? 0)) / 2);
    const center = toPercent(x);
    const anchor = center < EDGE_PERCENT ? 'start' : center > 100 - EDGE_PERCENT ? 'end' : 'middle';
    const top = y === undefined ? undefined : TEXT_PERCENT + ((100 - TEXT_PERCENT) * y) / PLOT_HEIGHT;
    const dot = top === undefined ? '' : `<circle cx="${center}%" cy="${Math.round(top * 10) / 10}%" r="3"/>`;
    const current = index === points.length - 1 ? ' current' : '';
    const textX = anchor === 'start' ? 0 : anchor === 'end' ? 100 : center;
    const area = `<rect x="${start}%" width="${Math.max(0, Math.round((end - start) * 10) / 10)}%" height="100%"/>`;
    const text = html`<text class="${anchor}" x="${textX}%" y="1em">${format(point)}</text>`.text;
    return `<g class="point${current}">${area}${dot}${text}</g>`;
  });
  return trusted(texts.join(''));
}
