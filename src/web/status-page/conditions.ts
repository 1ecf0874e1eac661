import { formatRejectedEntry } from '../../diagnostics/report.ts';
import { NO_TRAFFIC_REMEDY, STALE_LISTING_REMEDY } from '../../diagnostics/remedies.ts';
import type { ExpectedTask } from '../../tally/expectations.ts';
import { POLL_ERROR_SUMMARY, type PollErrorReason } from '../../upstream/errors.ts';
import type { ProcessStatus, ServiceCodeCondition, ServiceCodeStatus } from '../exporter-facade.ts';
import { renderLinks } from './document.ts';
import { formatCount, formatMoment, formatSince, renderAge } from './human-units.ts';
import { html, type Content, type Markup } from './markup.ts';

/** The conditions in the order of their severity. */
const CONDITIONS: readonly ServiceCodeCondition[] = ['down', 'stale', 'lost', 'idle', 'waiting', 'up'];

/** Symbols differ in shape, so that the colour is never the only difference. */
const CONDITION_DISPLAY: Readonly<Record<ServiceCodeCondition, readonly [symbol: string, text: string]>> = {
  down: ['✕', 'down'],
  stale: ['◆', 'stale'],
  lost: ['▼', 'lost'],
  idle: ['◐', 'no traffic'],
  waiting: ['○', 'not polled yet'],
  up: ['●', 'up'],
};

const MAX_MESSAGE_CHARACTERS = 300;

export function formatCondition(condition: ServiceCodeCondition): string {
  return CONDITION_DISPLAY[condition][1];
}

/** The condition as a symbol and a word, since when it is down, and marks of problems. */
export function renderCondition(status: ServiceCodeStatus, nowMs: number): Markup {
  const { condition, failure, totals, loss, findings } = status;
  const { rejected, tasksWithoutAccount, byteCountsWaiting } = findings ?? {};
  const first = rejected?.first === undefined ? '' : `, first ${formatRejectedEntry(rejected.first)}`;
  const [symbol, text] = CONDITION_DISPLAY[condition];
  const since = failure === undefined ? '' : html` <span>${formatSince(failure.sinceMs, nowMs)}</span>`;
  return html`<span class="state ${condition}"
      ><span class="mark" aria-hidden="true">${symbol}</span> ${text}</span
    >${since} ${renderWarning(countMissing(status), ' missing')}
    ${condition === 'lost' && loss !== undefined ? renderMark(formatLoss(loss, nowMs)) : ''}
    ${renderWarning(totals?.stalledTasks, ' stalled')}
    ${renderWarning(totals?.tasksWithoutInput, ' without input')}
    ${renderWarning(byteCountsWaiting, ' byte counts wait')}
    ${renderWarning(rejected?.count, ` rejected${first}`)}
    ${renderWarning(tasksWithoutAccount, ' tasks without accounts')}`;
}

/** A number of tasks as a warning; `undefined` if there are none. */
export function renderWarning(tasks = 0, suffix = ''): Markup | undefined {
  return tasks === 0 ? undefined : renderMark(`${formatCount(tasks)}${suffix}`);
}

function renderMark(text: string): Markup {
  return html`<span class="warning"><span class="mark" aria-hidden="true">▲</span> ${text}</span>`;
}

function formatLoss(
  { field, from, to, sinceMs }: NonNullable<ServiceCodeStatus['loss']>,
  nowMs: number,
): string {
  return `${field} ${formatCount(from)} → ${formatCount(to)} since ${formatMoment(sinceMs, nowMs)}`;
}

/** Whether the last good listing tells what runs now. `XvsExpectedTaskDown` is silent without it, too. */
export function hasCurrentListing({ condition }: ServiceCodeStatus): boolean {
  return condition === 'up' || condition === 'idle' || condition === 'lost';
}

/** The expected streams that do not run. */
function findMissing(status: ServiceCodeStatus): readonly ExpectedTask[] {
  if (!hasCurrentListing(status)) return [];
  return status.expectedTasks.filter(({ condition }) => condition !== 'up' && condition !== 'unknown');
}

/**
 * How many of the expected tasks do not run: those with a name, or as many as there are too few live tasks with input, which
 * `XvsTasksBelowExpected` compares too.
 */
function countMissing(status: ServiceCodeStatus): number {
  const { totals, expectedTaskCount } = status;
  if (!hasCurrentListing(status) || totals === undefined) return 0;
  const { tasks, tasksWithProgress, stalledTasks, tasksWithoutInput } = totals;
  const receivingInput = tasks - tasksWithProgress - stalledTasks - tasksWithoutInput;
  return Math.max(0, expectedTaskCount - receivingInput, findMissing(status).length);
}

export function hasMissing(status: ServiceCodeStatus): boolean {
  return countMissing(status) > 0;
}

/** The order of the list: a service code has the rank of the first line that is true. */
const RANKS: readonly ((status: ServiceCodeStatus) => boolean)[] = [
  hasMissing,
  ({ condition }) => condition === 'down',
  ({ condition }) => condition === 'stale',
  ({ condition }) => condition === 'lost',
  ({ condition }) => condition === 'idle',
  ({ totals }) => totals !== undefined && totals.stalledTasks > 0,
  ({ totals }) => totals !== undefined && totals.tasksWithoutInput > 0,
  ({ condition }) => condition === 'waiting',
  () => true,
];

/** Sort key of a service code, the most severe lowest. */
export function rankSeverity(status: ServiceCodeStatus): number {
  return RANKS.findIndex((isOfRank) => isOfRank(status));
}

/** Counts by condition, without the zeros: `2 down, 1 stale, 997 up; 3 tasks stalled`. */
export function formatSummary(rows: readonly ServiceCodeStatus[]): string {
  if (rows.length === 0) return 'no service codes';
  const conditions = CONDITIONS.flatMap((condition) => {
    const count = rows.filter((row) => row.condition === condition).length;
    return count === 0 ? [] : [`${count} ${formatCondition(condition)}`];
  });
  const formatSum = (noun: string, text: string, countOf: (row: ServiceCodeStatus) => number) => {
    const sum = rows.reduce((total, row) => total + countOf(row), 0);
    return sum === 0 ? '' : `; ${formatQuantity(sum, noun)} ${text}`;
  };
  return [
    conditions.join(', '),
    formatSum('expected stream', 'missing', countMissing),
    formatSum('task', 'stalled', ({ totals }) => totals?.stalledTasks ?? 0),
    formatSum('task', 'without input', ({ totals }) => totals?.tasksWithoutInput ?? 0),
  ].join('');
}

function formatQuantity(count: number, noun: string): string {
  return `${count} ${noun}${count === 1 ? '' : 's'}`;
}

/** The reason of a failed poll as a sentence; `code` is the `ret` of an `api_error`, the status of an `http_status`. */
export function describePollError(reason: PollErrorReason, code: number | undefined): string {
  const name = reason === 'api_error' ? 'ret' : 'HTTP';
  return `${POLL_ERROR_SUMMARY[reason]}${code === undefined ? '' : ` (${name} ${code})`}.`;
}

/** A problem of a service code, with what to try and the alert that describes it in the runbook. */
interface Problem {
  readonly text: string;
  readonly remedies: readonly string[];
  readonly alert: string;
  readonly note?: Content;
}

/** The problems of a service code, the most severe first. */
export function findProblems(status: ServiceCodeStatus, nowMs: number): readonly Problem[] {
  const { condition, failure, totals, loss, findings } = status;
  const waiting = findings?.byteCountsWaiting ?? 0;
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
  const missing = describeMissing(status, nowMs);
  if (condition === 'lost' && loss !== undefined) return [...missing, describeLoss(loss, nowMs)];
  if (condition === 'idle' && waiting > 0)
    return [
      ...missing,
      {
        text: `${formatQuantity(waiting, 'byte count')} of the last listing wait until the next ones confirm them.`,
        remedies: [
          'Wait three listings. If it lasts, compare ledger.max_stream_rate with what streams carry.',
        ],
        alert: 'XvsBytesImplausible',
      },
    ];
  if (condition === 'idle')
    return [
      ...missing,
      {
        text: 'Tasks run, but no byte moved between the last two listings.',
        remedies: [NO_TRAFFIC_REMEDY],
        alert: 'XvsIngestStopped',
      },
    ];
  const stalled = 'stalled: their input flowed and has stopped';
  return [
    ...missing,
    ...describeTasks(totals?.stalledTasks, stalled, 'XvsIngestStalled'),
    ...describeTasks(totals?.tasksWithoutInput, 'never received input', 'XvsTasksWithoutInput'),
  ];
}

function describeLoss(loss: NonNullable<ServiceCodeStatus['loss']>, nowMs: number): Problem {
  return {
    text: `The listing lost most ${loss.field}: ${formatLoss(loss, nowMs)}.`,
    remedies: [
      'Ask whether an event ended. If not, check the sources, and whether the service lists everything.',
    ],
    alert: loss.field === 'tasks' ? 'XvsTasksDropped' : 'XvsUsersDropped',
  };
}

function describeMissing(status: ServiceCodeStatus, nowMs: number): readonly Problem[] {
  const remedies = ['Start the stream, or check its encoder and the network.'];
  const names = findMissing(status).map(({ name, condition, sinceMs }) => {
    const state = condition.replace('_', ' ');
    return `${name} has been ${state} ${sinceMs === undefined ? 'since the start' : formatSince(sinceMs, nowMs)}`;
  });
  if (names.length > 0)
    return [{ text: `Expected: ${names.join(', ')}.`, remedies, alert: 'XvsExpectedTaskDown' }];
  const count = countMissing(status);
  if (count === 0) return [];
  const text = `Expected ${status.expectedTaskCount} live tasks with input, found ${status.expectedTaskCount - count}.`;
  return [{ text, remedies, alert: 'XvsTasksBelowExpected' }];
}

function describeTasks(count = 0, text: string, alert: string): readonly Problem[] {
  const remedies = ['Check the encoders of these tasks and their network.'];
  return count === 0 ? [] : [{ text: `${formatQuantity(count, 'task')} ${text}.`, remedies, alert }];
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

/** A problem as a line of text, with links to the runbook and the dashboard. */
export function renderProblem(
  { text, remedies, alert, note }: Problem,
  process: ProcessStatus,
  serviceCode: string,
): Markup {
  return html`<strong>${text}</strong>
    ${remedies.map((remedy) => html`<span class="try">Try: ${remedy}</span> `)}
    <span class="aside">${note ?? ''}</span> ${renderLinks(process, serviceCode, alert)}`;
}

/** What is expected and how it was in the last good listing, while there is no current one. */
export function renderLastExpected(status: ServiceCodeStatus, nowMs: number): Markup | undefined {
  const { expectedTasks, expectedTaskCount, lastSuccessMs } = status;
  if (hasCurrentListing(status) || expectedTaskCount === 0) return undefined;
  const names = expectedTasks.map(({ name, condition }) => `${name} (${condition.replace('_', ' ')})`);
  const expected = names.length === 0 ? formatQuantity(expectedTaskCount, 'live task') : names.join(', ');
  const asOf =
    names.length === 0 || lastSuccessMs === undefined ? '' : html`, as of ${renderAge(lastSuccessMs, nowMs)}`;
  return html`<span class="expected">Expected: ${expected}${asOf}.</span>`;
}
