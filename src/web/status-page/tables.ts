import { HISTORY_CAPACITY, type PollHistoryEntry } from '../../poller/poll-history.ts';
import { describePollError, renderWarning } from './conditions.ts';
import {
  formatTimeSpan,
  renderAge,
  renderBitRate,
  renderCount,
  renderDuration,
  UNKNOWN,
} from './human-units.ts';
import type { ExpectedTask } from '../../tally/expectations.ts';
import type { ListingBreakdown, NamedCount, ServerStatus } from './listing-breakdown.ts';
import { html, renderName, type Content, type Markup } from './markup.ts';
import { PLOTTED_FIELDS } from './plot.ts';

/** Beyond this, dashboards serve better than a page. */
const MAX_SERVERS = 100;
/** The counts beyond share one bar. */
const MAX_BARS = 10;

interface Column<Row> {
  readonly title: string;
  readonly render: (row: Row) => Content;
  readonly isText?: boolean;
}

/**
 * A table whose first column has the headings of the rows. With more columns than fit on a phone, narrow windows show each
 * row as a block, see the list.
 */
function renderTable<Row>(
  caption: Content,
  columns: readonly Column<Row>[],
  rows: readonly Row[],
  className = '',
): Markup {
  const renderCell = ({ title, render, isText = false }: Column<Row>, index: number, row: Row): Markup =>
    index === 0
      ? html`<th role="rowheader" scope="row">${render(row)}</th>`
      : html`<td role="cell" class="${isText ? 'text' : 'number'}" data-label="${title}">${render(row)}</td>`;
  return html`<section>
    <table role="table" class="${columns.length > 3 ? 'wide' : 'short'} ${className}">
      <caption>
        ${caption}
      </caption>
      <thead role="rowgroup">
        <tr role="row">
          ${columns.map(
            ({ title, isText = false }, index) =>
              html`<th role="columnheader" scope="col" class="${isText || index === 0 ? 'text' : 'number'}">
                ${title}
              </th>`,
          )}
        </tr>
      </thead>
      <tbody role="rowgroup">
        ${rows.map(
          (row) =>
            html`<tr role="row">
              ${columns.map((column, index) => renderCell(column, index, row))}
            </tr> `,
        )}
      </tbody>
    </table>
  </section> `;
}

/** The expected streams, the missing ones first; no table for none. */
export function renderExpectedTasks(tasks: readonly ExpectedTask[], nowMs: number): Markup | undefined {
  if (tasks.length === 0) return undefined;
  const isUp = ({ condition }: ExpectedTask): number => (condition === 'up' ? 1 : 0);
  const columns: readonly Column<ExpectedTask>[] = [
    { title: 'Stream', render: ({ name }) => renderName(name) },
    {
      title: 'State',
      isText: true,
      render: ({ condition }) =>
        html`<span class="state ${condition === 'up' ? 'up' : 'down'}">${condition.replace('_', ' ')}</span>`,
    },
    { title: 'Since', render: ({ sinceMs }) => renderAge(sinceMs, nowMs) },
    { title: 'Outputs', render: ({ outputs }) => renderCount(outputs) },
  ];
  return renderTable(
    'Expected streams',
    columns,
    tasks.toSorted((a, b) => isUp(a) - isUp(b)),
  );
}

/** A listing by server, by task, and by format, client and protocol. */
export function renderBreakdown(breakdown: ListingBreakdown, nowMs: number): Markup {
  const { longestStalled, longestWithoutInput, mostWatched } = breakdown;
  const since = (title: string) => ({
    title,
    render: ({ sinceMs }: (typeof longestStalled)[number]) => formatTimeSpan(nowMs - sinceMs),
  });
  return html`${renderServers(breakdown.servers, nowMs)}
    <div class="breakdown">
      ${renderTasks('Tasks stalled the longest', since('Stalled for'), longestStalled)}
      ${renderTasks('Tasks without input', since('Seen for'), longestWithoutInput)}
      ${renderTasks(
        'Tasks with the most connections',
        { title: 'Connections', render: ({ connections }) => renderCount(connections) },
        mostWatched,
      )}
      ${renderCounts('Outputs by format', breakdown.outputsByFormat)}
      ${renderCounts('Connections by format', breakdown.connectionsByFormat, 'HLS (m3u8) is not metered')}
      ${renderCounts('Users by client version', breakdown.usersByClientVersion)}
      ${renderCounts('Users by device type', breakdown.usersByDeviceType)}
      ${renderCounts('Inputs by protocol', breakdown.inputsByProtocol)}
    </div>`;
}

function renderServers(servers: readonly ServerStatus[], nowMs: number): Markup {
  const hiddenCount = servers.length - MAX_SERVERS;
  const caption = `Servers: ${servers.length}${hiddenCount > 0 ? ` (${hiddenCount} not shown)` : ''}`;
  const columns: readonly Column<ServerStatus>[] = [
    { title: 'Server', render: ({ vsId }) => renderName(vsId) },
    { title: 'Stalled', render: ({ stalledTasks }) => renderWarning(stalledTasks) ?? '0' },
    { title: 'Without input', render: ({ tasksWithoutInput }) => renderWarning(tasksWithoutInput) ?? '0' },
    { title: 'Tasks', render: ({ tasks }) => renderCount(tasks) },
    { title: 'Users', render: ({ users }) => renderCount(users) },
    { title: 'Ingress', render: ({ ingress }) => renderBitRate(ingress) },
    { title: 'Egress', render: ({ egress }) => renderBitRate(egress) },
    { title: 'Connections', render: ({ connections }) => renderCount(connections) },
    { title: 'Last seen', render: ({ lastSeenMs }) => renderAge(lastSeenMs, nowMs) },
  ];
  return renderTable(caption, columns, servers.slice(0, MAX_SERVERS), 'servers');
}

interface NamedTask {
  readonly id: string;
  readonly name: string | undefined;
  readonly vsId: string;
}

/** Tasks by id and server with one number each; no table for none. */
function renderTasks<Task extends NamedTask>(
  caption: string,
  column: Column<Task>,
  tasks: readonly Task[],
): Markup | undefined {
  if (tasks.length === 0) return undefined;
  const heading: Column<Task> = {
    title: 'Task and server',
    render: ({ id, name, vsId }) =>
      html`${name === undefined ? '' : html`<strong>${renderName(name)}</strong> `}${renderName(id)}
        <span class="aside">${renderName(vsId)}</span>`,
  };
  return renderTable(caption, [heading, column], tasks);
}

/** Names and counts with a bar for each, in the given order; no table for none. */
function renderCounts(title: string, counts: readonly NamedCount[], note?: string): Markup | undefined {
  if (counts.length === 0) return undefined;
  const others = counts.slice(MAX_BARS);
  const shown: { name: Content; value: number }[] = counts
    .slice(0, MAX_BARS)
    .map(({ name, value }) => ({ name: renderName(name), value }));
  if (others.length > 0) {
    const value = others.reduce((sum, other) => sum + other.value, 0);
    shown.push({ name: html`<em>${others.length} others</em>`, value });
  }
  const max = Math.max(1, ...shown.map(({ value }) => value));
  const caption = html`${title}${note === undefined ? '' : html` <span class="aside">${note}</span>`}`;
  return renderTable(
    caption,
    [
      { title: 'Name', render: ({ name }) => name },
      { title: 'Count', render: ({ value }) => renderCount(value) },
      { title: 'Share', isText: true, render: ({ value }) => renderBar(value / max) },
    ],
    shown,
    'bars',
  );
}

function renderBar(part: number): Markup {
  return html`<svg viewBox="0 0 100 10" preserveAspectRatio="none" aria-hidden="true" focusable="false">
    <rect width="${(100 * part).toFixed(1)}" height="10" />
  </svg>`;
}

/** Polls in a row with the same failure, or a single poll. */
interface PollRun {
  readonly latest: PollHistoryEntry;
  readonly earliest: PollHistoryEntry;
  readonly count: number;
}

/** The remembered polls, the latest first. `latestMs` is the time of the latest poll. */
export function renderPolls(history: readonly PollHistoryEntry[], latestMs: number, nowMs: number): Markup {
  const renderTime = ({ beforeLatestMs }: PollHistoryEntry): Markup =>
    renderAge(latestMs - beforeLatestMs, nowMs);
  const oldest = history[0];
  const renderOutcome = ({ latest, earliest, count }: PollRun): Markup => {
    const { error, errorCode } = latest;
    if (error === undefined) return html`<span class="state up">ok</span>`;
    const atLeast = earliest === oldest && history.length === HISTORY_CAPACITY ? ' or more' : '';
    const repetition = html` <span class="aside"
      >${count}${atLeast} polls, since ${renderTime(earliest)}</span
    >`;
    return html`<span class="state down">failed</span> ${describePollError(error, errorCode)}${
        count === 1 ? '' : repetition
      }`;
  };
  const columns: readonly Column<PollRun>[] = [
    { title: 'Time', render: ({ latest }) => renderTime(latest) },
    { title: 'Outcome', isText: true, render: renderOutcome },
    { title: 'Duration', render: ({ latest }) => renderDuration(latest.durationMs) },
    ...PLOTTED_FIELDS.map(({ field, title, renderValue }) => ({
      title,
      render: ({ latest: { totals } }: PollRun) =>
        totals === undefined ? UNKNOWN : renderValue(totals[field]),
    })),
  ];
  return renderTable('Recent polls', columns, groupPolls(history));
}

/** The polls, the latest first; equal failures in a row are one run. */
function groupPolls(history: readonly PollHistoryEntry[]): readonly PollRun[] {
  const runs: PollRun[] = [];
  for (const entry of history.toReversed()) {
    const last = runs.at(-1);
    const isEqual =
      last !== undefined &&
      entry.error !== undefined &&
      entry.error === last.latest.error &&
      entry.errorCode === last.latest.errorCode;
    if (isEqual) runs[runs.length - 1] = { ...last, earliest: entry, count: last.count + 1 };
    else runs.push({ latest: entry, earliest: entry, count: 1 });
  }
  return runs;
}
