import type { PollHistoryEntry } from '../../poller/poll-history.ts';
import type { PollPlan } from '../../poller/service-code-poller.ts';
import type { TopTask } from '../../tally/top-tasks.ts';
import { formatTaskCondition, type ExpectedTask } from '../../tally/expectations.ts';
import { POLL_ERRORS } from '../../upstream/error-table.ts';
import { getCodeKind } from '../../upstream/errors.ts';
import type { ExporterFacade, ProcessStatus, ServiceCodeStatus } from '../exporter-facade.ts';
import { examine, listProblems, listShortfalls } from './code-problems.ts';
import {
  formatCondition,
  formatProblemCounts,
  renderCondition,
  renderFailureNote,
  renderLastExpected,
  renderMark,
} from './conditions.ts';
import { renderDocument, renderLabels } from './document.ts';
import {
  formatBitRate,
  formatCount,
  formatHumanDuration,
  formatTimeSpan,
  formatUtc,
  renderAge,
  renderKnown,
} from './human-units.ts';
import type { ListingBreakdown } from '../listing-breakdown.ts';
import { html, renderName, type Content, type Markup } from './markup.ts';
import { hasValues, PLOTTED_FIELDS, renderPlotted } from './plot.ts';
import { isCritical, renderLinks, renderProblem } from './problems.ts';
import { renderFirstRows, type TableColumn } from './table.ts';

/** The page of the service code that the query names; `undefined` if it is not configured. */
export function renderServiceCodePage(facade: ExporterFacade, query: URLSearchParams): string | undefined {
  const serviceCode = query.get('service_code') ?? '';
  const status = facade.getStatus(serviceCode);
  const polling = facade.getPolling(serviceCode);
  if (status === undefined || polling === undefined) return undefined;
  const process = facade.getProcess();
  const { nowMs } = process;
  const { labels, condition } = status;
  const breakdown = facade.getBreakdown(serviceCode);
  const history = status.history.entries();
  const examined = examine(status, nowMs);
  return renderDocument(process, {
    root: '../',
    title: `${serviceCode}: ${formatCondition(condition)}${formatProblemCounts([examined])}`,
    header: html`<nav aria-label="Back"><a href="../">All service codes</a></nav>
      <h1>${renderName(serviceCode)}</h1>
      ${renderLabels(labels)} ${renderLinks(process, serviceCode)}`,
    summary: renderCondition(examined, nowMs),
    main: html`${listProblems(examined).map(
      (problem) =>
        html`<p class="problem ${isCritical(problem) && 'critical'}">
          ${renderProblem(problem, process, serviceCode, renderFailureNote(status, nowMs))}
        </p>`,
    )}
    ${renderExpectedTasks(status, nowMs, query)} ${renderPlots(status, history, nowMs)}
    ${renderPollingFacts(status, history, polling, process)}
    ${breakdown === undefined ? html`<p>No recent listing.</p>` : renderBreakdown(breakdown, nowMs, query)}
    ${renderPolls(status, history, nowMs, query)}`,
  });
}

/** The missing streams first; while the service code is down, with their last known state. */
function renderExpectedTasks(
  status: ServiceCodeStatus,
  nowMs: number,
  query: URLSearchParams,
): Markup | undefined {
  const { expectedTasks, lastSuccessMs } = status;
  if (expectedTasks.length === 0) return html`<p>${renderLastExpected(status, nowMs)}</p>`;
  const isListed = status.totals !== undefined;
  const isCurrent = (isListed && status.failure === undefined) || lastSuccessMs === undefined;
  const isUp = ({ condition }: ExpectedTask): boolean => condition === 'up';
  const columns: readonly TableColumn<ExpectedTask>[] = [
    { title: 'Stream', className: 'text', render: ({ name }) => renderName(name) },
    {
      title: 'State',
      className: 'text',
      render: (task) =>
        html`<span class="state ${isUp(task) ? 'up' : 'down'}">${formatTaskCondition(task.condition)}</span>
          ${(isListed ? listShortfalls(task, nowMs) : []).map(renderMark)}`,
    },
    {
      title: 'Since',
      render: ({ sinceMs, condition }) =>
        sinceMs === undefined && condition === 'missing' ? 'the start' : renderAge(sinceMs, nowMs),
    },
    {
      title: 'Input',
      render: ({ inputRate, minima }) =>
        html`${renderKnown(isCurrent ? inputRate : undefined, formatBitRate)}${renderMinimum(minima?.inputBytesPerSecond, formatBitRate)}`,
    },
    { title: 'Connections', render: ({ connections }) => renderKnown(connections, formatCount) },
    {
      title: 'Outputs',
      render: ({ outputs, minima }) =>
        html`${renderKnown(outputs, formatCount)}${renderMinimum(minima?.outputs, formatCount)}`,
    },
  ];
  const asOf = !isCurrent && html` <span class="aside">as of ${renderAge(lastSuccessMs, nowMs)}</span>`;
  const rank = (task: ExpectedTask): number =>
    isUp(task) ? Number(!isListed || listShortfalls(task, nowMs).length === 0) : -1;
  const rows = expectedTasks.toSorted((a, b) => rank(a) - rank(b));
  return renderFirstRows(query, html`Expected streams${asOf}`, columns, rows);
}

function renderMinimum(minimum: number | undefined, format: (value: number) => string): Markup | undefined {
  return minimum === undefined ? undefined : html` <span class="aside">of ${format(minimum)}</span>`;
}

function renderPlots(
  status: ServiceCodeStatus,
  history: readonly PollHistoryEntry[],
  nowMs: number,
): Markup | undefined {
  const { totals, condition } = status;
  if (totals === undefined && !hasValues(history)) return undefined;
  const spanMs = history[0]?.beforeLatestMs ?? 0;
  return html`<section aria-labelledby="history">
    <h2 id="history">
      ${spanMs < 1000 ? 'The first poll' : `The last ${formatTimeSpan(spanMs)}`}
      <span class="aside">as of ${formatUtc(nowMs)}</span>
    </h2>
    ${renderDescriptions(
      `plots ${condition}`,
      PLOTTED_FIELDS.map((field) => [field.title, renderPlotted(status, history, field)]),
    )}
  </section>`;
}

function renderDescriptions(
  className: string,
  entries: readonly (readonly [name: string, value: Content])[],
): Markup {
  return html`<dl class="${className}">
    ${entries.map(
      ([name, value]) =>
        html`<div>
          <dt>${name}</dt>
          <dd>${value}</dd>
        </div> `,
    )}
  </dl>`;
}

/** Where, when and with what outcome a service code is polled, and the command that explains a poll. */
function renderPollingFacts(
  status: ServiceCodeStatus,
  history: readonly PollHistoryEntry[],
  polling: PollPlan,
  { nowMs, command, configurationFile }: ProcessStatus,
): Markup {
  const { serviceCode, ret, httpStatus, lastPollMs, lastSuccessMs } = status;
  const duration = renderKnown(history.at(-1)?.durationMs, formatHumanDuration);
  const facts: readonly (readonly [string, Content])[] = [
    ['Service', renderName(polling.origin)],
    ['HTTP status', renderKnown(httpStatus, String)],
    ['ret', renderKnown(ret, String)],
    ['Last poll', html`${renderAge(lastPollMs, nowMs)}, took ${duration}`],
    ['Last success', renderAge(lastSuccessMs, nowMs)],
    ['Interval', formatTimeSpan(polling.intervalMs)],
    ['Next poll', formatNextPoll(polling)],
  ];
  return html`<section aria-labelledby="polling">
    <h2 id="polling">Polling</h2>
    ${renderDescriptions('facts', facts)}
    <p>
      <span class="aside">To see each step of a poll, run, with the environment of the exporter:</span>
      <code>${formatExplainCommand(command, serviceCode, configurationFile)}</code>
    </p>
  </section>`;
}

function formatNextPoll({ nextPollInMs, isPaused }: PollPlan): string {
  if (nextPollInMs === undefined || nextPollInMs <= 0) return 'in progress';
  return `in ${formatTimeSpan(nextPollInMs)}${isPaused ? ' (the service asked for a pause)' : ''}`;
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

function renderBreakdown(breakdown: ListingBreakdown, nowMs: number, query: URLSearchParams): Markup {
  const { servers, longestStalled, longestWithoutInput } = breakdown;
  const renderCount = (tasks: number) => (tasks === 0 ? '0' : renderMark(formatCount(tasks)));
  const columns: readonly TableColumn<(typeof servers)[number]>[] = [
    { title: 'Server', className: 'text', render: ({ vsId }) => renderName(vsId) },
    { title: 'Stalled', render: ({ stalledTasks }) => renderCount(stalledTasks) },
    { title: 'Without input', render: ({ tasksWithoutInput }) => renderCount(tasksWithoutInput) },
    { title: 'Tasks', render: ({ tasks }) => formatCount(tasks) },
    { title: 'Users', render: ({ users }) => formatCount(users) },
    { title: 'Egress', render: ({ egress }) => renderKnown(egress, formatBitRate) },
    { title: 'Connections', render: ({ connections }) => formatCount(connections) },
    { title: 'Last seen', render: ({ lastSeenMs }) => renderAge(lastSeenMs, nowMs) },
  ];
  const task: TableColumn<TopTask> = {
    title: 'Task and server',
    className: 'text',
    render: ({ id, name, vsId }) =>
      html`${name === undefined ? '' : html`<strong>${renderName(name)}</strong> `}${renderName(id)}
        <span class="aside">${renderName(vsId)}</span>`,
  };
  const since = (title: string): TableColumn<TopTask> => ({
    title,
    render: ({ sinceMs }) => formatTimeSpan(nowMs - sinceMs),
  });
  return html`${renderFirstRows(query, `Servers: ${servers.length}`, columns, servers)}
    <div class="breakdown">
      ${renderFirstRows(query, 'Tasks stalled the longest', [task, since('Stalled for')], longestStalled)}
      ${renderFirstRows(query, 'Tasks without input', [task, since('Seen for')], longestWithoutInput)}
    </div>`;
}

/** The latest polls, the last one first; in narrow windows without the values, which the plots show. */
function renderPolls(
  { lastPollMs = 0 }: ServiceCodeStatus,
  history: readonly PollHistoryEntry[],
  nowMs: number,
  query: URLSearchParams,
): Markup | undefined {
  const columns: readonly TableColumn<PollHistoryEntry>[] = [
    {
      title: 'Time',
      className: 'text',
      render: ({ beforeLatestMs }) => renderAge(lastPollMs - beforeLatestMs, nowMs),
    },
    { title: 'Outcome', className: 'text', render: renderOutcome },
    { title: 'Duration', render: ({ durationMs }) => formatHumanDuration(durationMs) },
    ...PLOTTED_FIELDS.map(({ field, title, format }) => ({
      title,
      className: 'number detail',
      render: ({ totals }: PollHistoryEntry) => renderKnown(totals?.[field], format),
    })),
  ];
  return renderFirstRows(query, 'Recent polls', columns, history.toReversed(), '');
}

function renderOutcome({ error, errorCode }: PollHistoryEntry): Markup {
  if (error === undefined) return html`<span class="state up">ok</span>`;
  const name = getCodeKind(error) === 'ret' ? 'ret' : 'HTTP';
  const code = errorCode === undefined ? '' : ` (${name} ${errorCode})`;
  return html`<span class="state down">failed</span> ${POLL_ERRORS[error].sentence}${code}.`;
}
