import type { PollHistoryEntry } from '../../poller/poll-history.ts';
import type { PollPlan } from '../../poller/service-code-poller.ts';
import type { NotableTask } from '../../tally/notable-tasks.ts';
import type { ExporterFacade, ProcessStatus, ServiceCodeStatus } from '../exporter-facade.ts';
import {
  describePollError,
  findProblems,
  formatCondition,
  hasCurrentListing,
  renderCondition,
  renderLastExpected,
  renderProblem,
  renderWarning,
} from './conditions.ts';
import { renderDocument, renderLabels, renderLinks } from './document.ts';
import {
  formatCount,
  formatHumanDuration,
  formatTimeSpan,
  formatUtc,
  renderAge,
  renderKnown,
  UNKNOWN_VALUE,
} from './human-units.ts';
import type { ListingBreakdown } from './listing-breakdown.ts';
import { html, renderName, type Content, type Markup } from './markup.ts';
import { hasValues, PLOTTED_FIELDS, renderPlot } from './plot.ts';

/** Rows of a table unless the query asks for all: a page with them fits a few screens of a phone. */
const MAX_ROWS = 10;
const ALL_PARAMETER = 'all';

const PATH_PREFIX = '/service-codes/';
const QUERY_PARAMETER = 'service_code';

/** The path of the page of a service code. */
export function formatServiceCodePath(serviceCode: string): string {
  const code = encodeURIComponent(serviceCode.toWellFormed());
  // Browsers resolve the segments "." and ".." even if they are percent-encoded.
  return /^\.\.?$/.test(serviceCode) ? `${PATH_PREFIX}?${QUERY_PARAMETER}=${code}` : PATH_PREFIX + code;
}

/** The service code of a page, '' if it is malformed; `undefined` for paths of other pages. */
export function parseServiceCodePath(path: string, query: URLSearchParams): string | undefined {
  if (!path.startsWith(PATH_PREFIX)) return undefined;
  const segment = path.slice(PATH_PREFIX.length);
  if (segment === '') return query.get(QUERY_PARAMETER) ?? '';
  try {
    return decodeURIComponent(segment);
  } catch {
    return '';
  }
}

/** The page of one service code; `undefined` if the code is not configured. */
export function renderServiceCodePage(
  facade: ExporterFacade,
  serviceCode: string,
  query = new URLSearchParams(),
): string | undefined {
  const status = facade.getStatus(serviceCode);
  if (status === undefined) return undefined;
  const process = facade.getProcess();
  const breakdown = facade.getBreakdown(serviceCode);
  const { nowMs } = process;
  const { labels, condition } = status;
  const history = status.history.entries();
  const renderTable = createTableRenderer(query);
  return renderDocument(process, {
    root: '../',
    title: `${serviceCode}: ${formatCondition(condition)}`,
    isLive: true,
    header: html`<nav aria-label="Back"><a href="../">All service codes</a></nav>
      <h1>${renderName(serviceCode)}</h1>
      ${renderLabels(labels)} ${renderLinks(process, serviceCode)}`,
    summary: renderCondition(status, nowMs),
    main: html`${findProblems(status, nowMs).map(
      (problem) => html`<p class="problem ${condition}">${renderProblem(problem, process, serviceCode)}</p>`,
    )}
    ${renderExpectedTasks(status, nowMs, renderTable)} ${renderPlots(status, history, nowMs)}
    ${renderPollingFacts(status, facade.getPolling(serviceCode), process)}
    ${breakdown === undefined ? html`<p>No recent listing.</p>` : renderBreakdown(breakdown, nowMs, renderTable)}
    ${renderPolls(status, history, nowMs, renderTable)}`,
  });
}

interface Column<Row> {
  readonly title: string;
  readonly render: (row: Row) => Content;
  readonly isText?: boolean;
}

type RenderTable = <Row>(
  caption: Content,
  columns: readonly Column<Row>[],
  rows: readonly Row[],
) => Markup | undefined;

/** Makes tables of the first rows, which end with a link to all of them; or of all rows, if the query asks for them. */
function createTableRenderer(query: URLSearchParams): RenderTable {
  if (query.has(ALL_PARAMETER)) return renderWholeTable;
  const all = new URLSearchParams(query);
  all.set(ALL_PARAMETER, '');
  return (caption, columns, rows) =>
    rows.length <= MAX_ROWS
      ? renderWholeTable(caption, columns, rows)
      : html`${renderWholeTable(caption, columns, rows.slice(0, MAX_ROWS))}
          <p><a href="?${all.toString()}">All ${rows.length} rows</a></p>`;
}

/**
 * A table whose first column has the headings of the rows; none without rows. With more columns than fit on a phone, narrow
 * windows show each row as a block, see the list.
 */
function renderWholeTable<Row>(
  caption: Content,
  columns: readonly Column<Row>[],
  rows: readonly Row[],
): Markup | undefined {
  if (rows.length === 0) return undefined;
  const getClass = ({ isText = false }: Column<Row>, index: number): string =>
    isText || index === 0 ? 'text' : 'number';
  const renderCell = (column: Column<Row>, index: number, row: Row): Markup =>
    index === 0
      ? html`<th role="rowheader" scope="row">${column.render(row)}</th>`
      : html`<td role="cell" class="${getClass(column, index)}" data-label="${column.title}">
          ${column.render(row)}
        </td>`;
  return html`<section>
    <table role="table" class="${columns.length > 3 ? 'wide' : 'short'}">
      <caption>
        ${caption}
      </caption>
      <thead role="rowgroup">
        <tr role="row">
          ${columns.map(
            (column, index) =>
              html`<th role="columnheader" scope="col" class="${getClass(column, index)}">
                ${column.title}
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

/** The expected streams, the missing ones first, with their last known state while the service code is down. */
function renderExpectedTasks(
  status: ServiceCodeStatus,
  nowMs: number,
  renderTable: RenderTable,
): Markup | undefined {
  const { expectedTasks, lastSuccessMs } = status;
  const isUp = (task: (typeof expectedTasks)[number]): number => (task.condition === 'up' ? 1 : 0);
  const asOf =
    hasCurrentListing(status) || lastSuccessMs === undefined
      ? ''
      : html` <span class="aside">as of ${renderAge(lastSuccessMs, nowMs)}</span>`;
  const columns: readonly Column<(typeof expectedTasks)[number]>[] = [
    { title: 'Stream', render: ({ name }) => renderName(name) },
    {
      title: 'State',
      isText: true,
      render: (task) =>
        html`<span class="state ${isUp(task) ? 'up' : 'down'}">${task.condition.replace('_', ' ')}</span>`,
    },
    {
      title: 'Since',
      render: ({ sinceMs, condition }) =>
        sinceMs === undefined && condition === 'missing' ? 'the start' : renderAge(sinceMs, nowMs),
    },
    { title: 'Outputs', render: ({ outputs }) => renderKnown(outputs, formatCount) },
  ];
  if (expectedTasks.length === 0) return html`<p>${renderLastExpected(status, nowMs)}</p>`;
  const rows = expectedTasks.toSorted((a, b) => isUp(a) - isUp(b));
  return renderTable(html`Expected streams${asOf}`, columns, rows);
}

function renderPlots(
  { totals, condition, lastPollMs = 0 }: ServiceCodeStatus,
  history: readonly PollHistoryEntry[],
  nowMs: number,
): Markup | undefined {
  if (totals === undefined && !hasValues(history)) return undefined;
  const spanMs = history[0]?.beforeLatestMs ?? 0;
  return html`<section aria-labelledby="history">
    <h2 id="history">
      ${spanMs < 1000 ? 'The first poll' : `The last ${formatTimeSpan(spanMs)}`}
      <span class="aside">as of ${formatUtc(nowMs)}</span>
    </h2>
    <dl class="plots${condition === 'down' ? ' outdated' : ''}">
      ${PLOTTED_FIELDS.map(
        (display) =>
          html`<div>
            <dt>${display.title}</dt>
            <dd>
              <span class="value">${renderKnown(totals?.[display.field], display.format)}</span>
              ${hasValues(history) ? renderPlot(history, display, lastPollMs, 'large') : ''}
            </dd>
          </div> `,
      )}
    </dl>
  </section>`;
}

/** Where, when and with what outcome a service code is polled, and the command that explains a poll. */
function renderPollingFacts(
  status: ServiceCodeStatus,
  polling: PollPlan | undefined,
  { nowMs, command, configurationFile }: ProcessStatus,
): Markup {
  const { serviceCode, ret, httpStatus, lastPollMs, lastSuccessMs, history } = status;
  const duration = renderKnown(history.latestDurationMs, formatHumanDuration);
  const facts: readonly (readonly [string, Markup])[] = [
    ['Service', polling === undefined ? UNKNOWN_VALUE : renderName(polling.origin)],
    ['HTTP status', renderKnown(httpStatus, String)],
    ['ret', renderKnown(ret, String)],
    ['Last poll', html`${renderAge(lastPollMs, nowMs)}, took ${duration}`],
    ['Last success', renderAge(lastSuccessMs, nowMs)],
    ['Interval', renderKnown(polling?.intervalMs, formatTimeSpan)],
    ['Next poll', renderNextPoll(polling, nowMs)],
  ];
  return html`<section aria-labelledby="polling">
    <h2 id="polling">Polling</h2>
    <dl class="facts">
      ${facts.map(
        ([name, value]) =>
          html`<div>
            <dt>${name}</dt>
            <dd>${value}</dd>
          </div> `,
      )}
    </dl>
    <p>
      <span class="aside">To see each step of a poll, run, with the environment of the exporter:</span>
      <code>${formatExplainCommand(command, serviceCode, configurationFile)}</code>
    </p>
  </section>`;
}

function renderNextPoll(polling: PollPlan | undefined, nowMs: number): Markup {
  if (polling === undefined) return UNKNOWN_VALUE;
  const { nextPollMs, isPaused } = polling;
  if (nextPollMs === undefined || nextPollMs <= nowMs) return html`in progress`;
  const reason = isPaused ? ' (the service asked for a pause)' : '';
  return html`in ${formatTimeSpan(nextPollMs - nowMs)}${reason}`;
}

const SHELL_SAFE = /^[\w@%+=:,./-]+$/;

/** The command line that explains one poll of a service code, for a POSIX shell. */
export function formatExplainCommand(
  command: readonly string[],
  serviceCode: string,
  configurationFile: string | undefined,
): string {
  const words = [
    ...command,
    'once',
    '--explain',
    `--only=${serviceCode}`,
    ...(configurationFile === undefined ? [] : [`--config.file=${configurationFile}`]),
  ];
  return words.map((word) => (SHELL_SAFE.test(word) ? word : `'${word.replaceAll("'", "'\\''")}'`)).join(' ');
}

/** The servers of a listing, and the tasks that people look for first. */
function renderBreakdown(breakdown: ListingBreakdown, nowMs: number, renderTable: RenderTable): Markup {
  const { servers, longestStalled, longestWithoutInput } = breakdown;
  const columns: readonly Column<(typeof servers)[number]>[] = [
    { title: 'Server', render: ({ vsId }) => renderName(vsId) },
    { title: 'Stalled', render: ({ stalledTasks }) => renderWarning(stalledTasks) ?? '0' },
    { title: 'Without input', render: ({ tasksWithoutInput }) => renderWarning(tasksWithoutInput) ?? '0' },
    { title: 'Tasks', render: ({ tasks }) => formatCount(tasks) },
    { title: 'Users', render: ({ users }) => formatCount(users) },
    { title: 'Connections', render: ({ connections }) => formatCount(connections) },
    { title: 'Last seen', render: ({ lastSeenMs }) => renderAge(lastSeenMs, nowMs) },
  ];
  const task: Column<NotableTask> = {
    title: 'Task and server',
    render: ({ id, name, vsId }) =>
      html`${name === undefined ? '' : html`<strong>${renderName(name)}</strong> `}${renderName(id)}
        <span class="aside">${renderName(vsId)}</span>`,
  };
  const since = (title: string): Column<NotableTask> => ({
    title,
    render: ({ sinceMs }) => formatTimeSpan(nowMs - sinceMs),
  });
  return html`${renderTable(`Servers: ${servers.length}`, columns, servers)}
    <div class="breakdown">
      ${renderTable('Tasks stalled the longest', [task, since('Stalled for')], longestStalled)}
      ${renderTable('Tasks without input', [task, since('Seen for')], longestWithoutInput)}
    </div>`;
}

/** The latest polls, the last one first. */
function renderPolls(
  { lastPollMs = 0 }: ServiceCodeStatus,
  history: readonly PollHistoryEntry[],
  nowMs: number,
  renderTable: RenderTable,
): Markup | undefined {
  const columns: readonly Column<PollHistoryEntry>[] = [
    { title: 'Time', render: ({ beforeLatestMs }) => renderAge(lastPollMs - beforeLatestMs, nowMs) },
    { title: 'Outcome', isText: true, render: renderOutcome },
    { title: 'Duration', render: ({ durationMs }) => formatHumanDuration(durationMs) },
    ...PLOTTED_FIELDS.map(({ field, title, format }) => ({
      title,
      render: ({ totals }: PollHistoryEntry) => renderKnown(totals?.[field], format),
    })),
  ];
  return renderTable('Recent polls', columns, history.toReversed());
}

function renderOutcome({ error, errorCode }: PollHistoryEntry): Markup {
  return error === undefined
    ? html`<span class="state up">ok</span>`
    : html`<span class="state down">failed</span> ${describePollError(error, errorCode)}`;
}
