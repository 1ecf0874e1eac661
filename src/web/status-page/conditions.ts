import { NO_TRAFFIC_REMEDY, STALE_LISTING_REMEDY } from '../../diagnostics/remedies.ts';
import type { LatestListing } from '../../poller/poll-history.ts';
import type { ExpectedTask } from '../../tally/expectations.ts';
import { POLL_ERROR_SUMMARY, type PollErrorReason } from '../../upstream/errors.ts';
import type { ServiceCodeCondition, ServiceCodeStatus } from '../exporter-facade.ts';
import { formatMoment, formatTimeSpan, renderAge, renderCount } from './human-units.ts';
import { html, type Content, type Markup } from './markup.ts';

/** The conditions in the order of their severity. */
export const CONDITIONS = [
  'down',
  'stale',
  'idle',
  'waiting',
  'up',
] as const satisfies readonly ServiceCodeCondition[];

/** Symbols differ in shape, so that the colour is never the only difference. */
const CONDITION_DISPLAY: Readonly<Record<ServiceCodeCondition, readonly [symbol: string, text: string]>> = {
  down: ['✕', 'down'],
  stale: ['◆', 'stale'],
  idle: ['◐', 'no traffic'],
  waiting: ['○', 'not polled yet'],
  up: ['●', 'up'],
};

const MAX_MESSAGE_CHARACTERS = 300;

export function formatCondition(condition: ServiceCodeCondition): string {
  return CONDITION_DISPLAY[condition][1];
}

/** The condition as a symbol and a word, since when it is down, and the number of tasks with a problem. */
export function renderCondition(status: ServiceCodeStatus, nowMs: number): Markup {
  const { condition, failure, totals } = status;
  const [symbol, text] = CONDITION_DISPLAY[condition];
  const since =
    failure === undefined
      ? ''
      : html` <span class="since"
          >since ${formatMoment(failure.sinceMs, nowMs)} (${formatTimeSpan(nowMs - failure.sinceMs)})</span
        >`;
  return html`<span class="state ${condition}"
      ><span class="mark" aria-hidden="true">${symbol}</span> ${text}</span
    >${since} ${renderWarning(countMissing(status), ' missing')}
    ${renderWarning(totals?.stalledTasks, ' stalled')}
    ${renderWarning(totals?.tasksWithoutInput, ' without input')}`;
}

/** A number of tasks as a warning; `undefined` if there are none. */
export function renderWarning(tasks: number | undefined, suffix = ''): Markup | undefined {
  return tasks === undefined || tasks === 0
    ? undefined
    : html`<span class="warning"
        ><span class="mark" aria-hidden="true">▲</span> ${renderCount(tasks)}${suffix}</span
      >`;
}

function countProblemTasks({ totals }: ServiceCodeStatus): number {
  return totals === undefined ? 0 : totals.stalledTasks + totals.tasksWithoutInput;
}

/** The expected streams that do not run, as far as a recent listing tells. */
function findMissing({ expectedTasks }: ServiceCodeStatus): readonly ExpectedTask[] {
  return expectedTasks.filter(({ condition }) => condition !== 'up' && condition !== 'unknown');
}

/** How many of the expected tasks do not run: those with a name, or as many as there are too few. */
function countMissing(status: ServiceCodeStatus): number {
  const { totals, expectedTaskCount } = status;
  const tooFew = totals === undefined ? 0 : expectedTaskCount - countReceivingInput(totals);
  return Math.max(0, tooFew, findMissing(status).length);
}

/** Live tasks that are neither stalled nor without input, which `XvsTasksBelowExpected` compares too. */
function countReceivingInput(totals: LatestListing): number {
  return totals.tasks - totals.tasksWithProgress - totals.stalledTasks - totals.tasksWithoutInput;
}

/** Sort key of a service code, the most severe lowest: missing streams first, stalled tasks between no traffic and waiting. */
export function rankSeverity(status: ServiceCodeStatus): number {
  const { condition } = status;
  if (countMissing(status) > 0) return -1;
  const hasWarning = condition === 'up' && countProblemTasks(status) > 0;
  return hasWarning ? CONDITIONS.indexOf('idle') + 0.5 : CONDITIONS.indexOf(condition);
}

/** The state that the icon of a page shows: `problem` is stale, without traffic, or with a warning. */
export type IconState = 'down' | 'problem' | 'up' | 'waiting';

/** The icon of the service code with the most severe condition. */
export function findWorstIcon(rows: readonly ServiceCodeStatus[]): IconState {
  const worst = rows.toSorted((a, b) => rankSeverity(a) - rankSeverity(b))[0];
  if (worst === undefined) return 'waiting';
  const { condition } = worst;
  if (countMissing(worst) > 0) return 'down';
  if (condition === 'down' || condition === 'waiting') return condition;
  return condition === 'up' && countProblemTasks(worst) === 0 ? 'up' : 'problem';
}

/** Counts by condition, without the zeros: `2 down, 1 stale, 997 up; 3 tasks stalled`. */
export function formatSummary(rows: readonly ServiceCodeStatus[]): string {
  const parts = CONDITIONS.flatMap((condition) => {
    const count = rows.filter((row) => row.condition === condition).length;
    return count === 0 ? [] : [`${count} ${formatCondition(condition)}`];
  });
  const formatTasks = (field: 'stalledTasks' | 'tasksWithoutInput', text: string): string => {
    const count = rows.reduce((sum, { totals }) => sum + (totals?.[field] ?? 0), 0);
    return count === 0 ? '' : `; ${count} ${count === 1 ? 'task' : 'tasks'} ${text}`;
  };
  const missing = rows.reduce((sum, row) => sum + countMissing(row), 0);
  const expected =
    missing === 0 ? '' : `; ${missing} expected ${missing === 1 ? 'stream' : 'streams'} missing`;
  const tasks = formatTasks('stalledTasks', 'stalled') + formatTasks('tasksWithoutInput', 'without input');
  return parts.length === 0 ? 'no service codes' : parts.join(', ') + expected + tasks;
}

/** The reason of a failed poll as a sentence; `code` is the `ret` of an `api_error`, the status of an `http_status`. */
export function describePollError(reason: PollErrorReason, code: number | undefined): string {
  const name = reason === 'api_error' ? 'ret' : 'HTTP';
  return `${POLL_ERROR_SUMMARY[reason]}${code === undefined ? '' : ` (${name} ${code})`}.`;
}

/** A problem of a service code, with what to try and the alert that describes it in the runbook. */
export interface Problem {
  readonly text: string;
  readonly remedies: readonly string[];
  readonly alert: string;
  readonly note?: Content;
}

/** The problems of a service code, the most severe first. */
export function findProblems(status: ServiceCodeStatus, nowMs: number): readonly Problem[] {
  return [...describeMissing(status, nowMs), ...findConditionProblems(status, nowMs)];
}

function describeMissing(status: ServiceCodeStatus, nowMs: number): readonly Problem[] {
  const remedies = ['Start the stream, or check its encoder and the network.'];
  const names = findMissing(status).map(({ name, condition, sinceMs }) => {
    const state = condition.replace('_', ' ');
    return sinceMs === undefined
      ? `${name} is ${state}`
      : `${name} has been ${state} since ${formatMoment(sinceMs, nowMs)} (${formatTimeSpan(nowMs - sinceMs)})`;
  });
  if (names.length > 0)
    return [{ text: `Expected: ${names.join(', ')}.`, remedies, alert: 'XvsExpectedTaskDown' }];
  const count = countMissing(status);
  if (count === 0) return [];
  const text = `Expected ${status.expectedTaskCount} live tasks with input, found ${status.expectedTaskCount - count}.`;
  return [{ text, remedies, alert: 'XvsTasksBelowExpected' }];
}

/** Stalled tasks are a problem of their own only if the service code is up. */
function findConditionProblems(status: ServiceCodeStatus, nowMs: number): readonly Problem[] {
  const { condition, failure, totals } = status;
  if (failure !== undefined)
    return [
      {
        text: `${Array.from(failure.message).slice(0, MAX_MESSAGE_CHARACTERS).join('')}.`,
        remedies: failure.remedies,
        alert: failure.reason === 'api_error' ? 'XvsApiErrors' : 'XvsApiDown',
        note: renderFailureNote(status, nowMs),
      },
    ];
  if (condition === 'stale')
    return [
      {
        text: 'The last good listing is older than poll.stale_after.',
        remedies: [STALE_LISTING_REMEDY],
        alert: 'XvsApiDataStale',
      },
    ];
  if (condition === 'idle')
    return [
      {
        text: 'Tasks run, but no byte moved between the last two listings.',
        remedies: [NO_TRAFFIC_REMEDY],
        alert: 'XvsIngestStopped',
      },
    ];
  return [
    ...describeTasks(totals?.stalledTasks, 'stalled: their input flowed and has stopped', 'XvsIngestStalled'),
    ...describeTasks(totals?.tasksWithoutInput, 'never received input', 'XvsTasksWithoutInput'),
  ];
}

function describeTasks(count: number | undefined, text: string, alert: string): readonly Problem[] {
  if (count === undefined || count === 0) return [];
  const remedies = ['Check the encoders of these tasks and their network.'];
  return [{ text: `${count} ${count === 1 ? 'task' : 'tasks'} ${text}.`, remedies, alert }];
}

function renderFailureNote({ failure, totals, lastSuccessMs }: ServiceCodeStatus, nowMs: number): Markup {
  const pausedUntilMs = failure?.pausedUntilMs;
  const pause =
    pausedUntilMs === undefined || pausedUntilMs <= nowMs
      ? ''
      : html`The service asked for a pause until ${formatMoment(pausedUntilMs, nowMs)}. `;
  if (totals !== undefined) return html`${pause}The values are from ${renderAge(lastSuccessMs, nowMs)}.`;
  return lastSuccessMs === undefined
    ? html`${pause}No poll has succeeded since the exporter started.`
    : html`${pause}The last values are older than poll.stale_after.`;
}

/** A problem as a line of text with links; `links` open the runbook and the dashboard. */
export function renderProblem(
  { text, remedies, alert, note }: Problem,
  renderLinks: (alert: string) => Markup,
): Markup {
  return html`<strong>${text}</strong>
    ${remedies.map((remedy) => html`<span class="try">Try: ${remedy}</span> `)}
    <span class="aside">${note ?? ''}</span> ${renderLinks(alert)}`;
}
