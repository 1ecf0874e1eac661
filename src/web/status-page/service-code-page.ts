import type { PollHistoryEntry } from '../../poller/poll-history.ts';
import type { PollingStatus, ServiceCodeStatus } from '../exporter-facade.ts';
import {
  findProblems,
  findWorstIcon,
  formatCondition,
  renderCondition,
  renderProblem,
} from './conditions.ts';
import { renderDocument, renderLabels, renderLinks, type PageContext } from './document.ts';
import { formatTimeSpan, formatUtc, renderAge, renderDuration, UNKNOWN } from './human-units.ts';
import type { ListingBreakdown } from './listing-breakdown.ts';
import { html, renderName, type Markup } from './markup.ts';
import { hasValues, PLOTTED_FIELDS, renderPlot } from './plot.ts';
import { renderBreakdown, renderExpectedTasks, renderPolls } from './tables.ts';

export interface ServiceCodePageProps extends PageContext {
  readonly status: ServiceCodeStatus;
  readonly polling: PollingStatus | undefined;
  /** `undefined` if no good listing is recent enough. */
  readonly breakdown: ListingBreakdown | undefined;
}

/** The page of one service code. */
export function renderServiceCodePage(props: ServiceCodePageProps): string {
  const { status, breakdown, ...context } = props;
  const { process } = context;
  const { nowMs } = process;
  const { serviceCode, labels, condition, lastPollMs = nowMs } = status;
  const history = status.history.entries();
  const problems = findProblems(status, nowMs);
  return renderDocument({
    ...context,
    title: `${serviceCode}: ${formatCondition(condition)} · xvs-exporter`,
    icon: findWorstIcon([status]),
    isLive: true,
    header: html`<nav aria-label="Back"><a href="/">All service codes</a></nav>
      <h1>${renderName(serviceCode)}</h1>
      ${renderLabels(labels)} ${renderLinks(process, serviceCode, undefined)}`,
    summary: renderCondition(status, nowMs),
    main: html`${problems.map(
      (problem) =>
        html`<p class="problem ${condition}">
          ${renderProblem(problem, (alert) => renderLinks(process, serviceCode, alert))}
        </p>`,
    )}
    ${renderExpectedTasks(status.expectedTasks, nowMs)} ${renderPlots(status, history, nowMs)}
    ${renderPollingFacts(props)}
    ${breakdown === undefined ? html`<p>No recent listing.</p>` : renderBreakdown(breakdown, nowMs)}
    ${history.length === 0 ? '' : renderPolls(history, lastPollMs, nowMs)}`,
  });
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
              <span class="value">${display.renderValue(totals?.[display.field])}</span>
              ${hasValues(history) ? renderPlot(history, display, lastPollMs, 'large') : ''}
            </dd>
          </div> `,
      )}
    </dl>
  </section>`;
}

/** Where, when and with what outcome a service code is polled, and the command that explains a poll. */
function renderPollingFacts({ status, polling, process }: ServiceCodePageProps): Markup {
  const { nowMs, configurationFile } = process;
  const { serviceCode, ret, httpStatus, lastPollMs, lastSuccessMs, history } = status;
  const facts: readonly (readonly [string, Markup])[] = [
    ['Service', polling === undefined ? UNKNOWN : renderName(polling.origin)],
    ['HTTP status', httpStatus === undefined ? UNKNOWN : html`${httpStatus}`],
    ['ret', ret === undefined ? UNKNOWN : html`${ret}`],
    ['Last poll', html`${renderAge(lastPollMs, nowMs)}, took ${renderDuration(history.latestDurationMs)}`],
    ['Last success', renderAge(lastSuccessMs, nowMs)],
    ['Interval', polling === undefined ? UNKNOWN : html`${formatTimeSpan(polling.intervalMs)}`],
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
    <p class="explain">
      <span class="aside">To see each step of a poll, run, with the environment of the exporter:</span>
      <code>${formatExplainCommand(serviceCode, configurationFile)}</code>
    </p>
  </section>`;
}

function renderNextPoll(polling: PollingStatus | undefined, nowMs: number): Markup {
  if (polling === undefined) return UNKNOWN;
  const { nextPollMs, isPaused } = polling;
  if (nextPollMs === undefined) return html`with the next scrape`;
  if (nextPollMs <= nowMs) return html`in progress`;
  const reason = isPaused ? ' (the service asked for a pause)' : '';
  return html`in ${formatTimeSpan(nextPollMs - nowMs)}${reason}`;
}

const SHELL_SAFE = /^[\w@%+=:,./-]+$/;

/** The command line that explains one poll of a service code, for a POSIX shell. */
export function formatExplainCommand(serviceCode: string, configurationFile: string | undefined): string {
  const flags = [
    `--only=${serviceCode}`,
    ...(configurationFile === undefined ? [] : [`--config.file=${configurationFile}`]),
  ];
  return ['xvs-exporter once --explain', ...flags.map(quoteForShell)].join(' ');
}

function quoteForShell(argument: string): string {
  return SHELL_SAFE.test(argument) ? argument : `'${argument.replaceAll("'", "'\\''")}'`;
}
