import { formatRejectedEntry } from '../../diagnostics/report.ts';
import { NO_TRAFFIC_REMEDY, STALE_LISTING_REMEDY } from '../../diagnostics/remedies.ts';
import type { ExpectedTask } from '../../tally/expectations.ts';
import type { ProcessStatus, ServiceCodeCondition, ServiceCodeStatus } from '../exporter-facade.ts';
import { renderLinks } from './document.ts';
import { formatCount, formatMoment, formatSince, renderAge } from './human-units.ts';
import { html, type Content, type Markup } from './markup.ts';

/** By severity. Symbols differ in shape, so that the colour is never the only difference. */
const CONDITIONS: Readonly<Record<ServiceCodeCondition, readonly [symbol: string, text: string]>> = {
  down: ['✕', 'down'],
  stale: ['◆', 'stale'],
  lost: ['▼', 'lost'],
  idle: ['◐', 'no traffic'],
  waiting: ['○', 'not polled yet'],
  up: ['●', 'up'],
};

const LOSS_REMEDY =
  'Ask whether an event ended. If not, check the sources, and whether the service lists everything.';
const WAITING_REMEDY =
  'Wait three listings. If it lasts, compare ledger.max_stream_rate with what streams carry.';

export function formatCondition(condition: ServiceCodeCondition): string {
  return CONDITIONS[condition][1];
}

/** The condition as a symbol and a word, since when it is down, and marks of problems. */
export function renderCondition(status: ServiceCodeStatus, nowMs: number): Markup {
  const { condition, failure, totals } = status;
  const { rejected } = totals ?? {};
  const first = rejected?.first === undefined ? '' : `, first ${formatRejectedEntry(rejected.first)}`;
  const marks = [
    formatMark(countMissing(status), 'missing'),
    formatLoss(status, nowMs),
    formatMark(totals?.stalledTasks, 'stalled'),
    formatMark(totals?.tasksWithoutInput, 'without input'),
    ...SHORTFALLS.map((shortfall) => formatShortfalls(status, shortfall, nowMs)),
    formatMark(totals?.byteCountsWaiting, 'byte counts wait'),
    formatMark(rejected?.count, `rejected${first}`),
    formatMark(totals?.tasksWithoutAccount, 'tasks without accounts'),
  ];
  const [symbol, text] = CONDITIONS[condition];
  const since = failure === undefined ? '' : html` <span>${formatSince(failure.sinceMs, nowMs)}</span>`;
  return html`<span class="state ${condition}"
      ><span class="mark" aria-hidden="true">${symbol}</span> ${text}</span
    >${since} ${marks.map(renderMark)}`;
}

function formatMark(count = 0, text: string): string | undefined {
  return count === 0 ? undefined : `${formatCount(count)} ${text}`;
}

/** A warning with a symbol; nothing without a text. */
export function renderMark(text: string | undefined): Markup | undefined {
  if (text === undefined) return undefined;
  return html`<span class="warning"><span class="mark" aria-hidden="true">▲</span> ${text}</span> `;
}

function formatLoss(
  { condition, loss, lastPollMs = 0 }: ServiceCodeStatus,
  nowMs: number,
): string | undefined {
  if (condition !== 'lost' || loss === undefined) return undefined;
  const { field, from, to, beforeLatestMs } = loss;
  const since = formatMoment(lastPollMs - beforeLatestMs, nowMs);
  return `${field} ${formatCount(from)} → ${formatCount(to)} since ${since}`;
}

/** Whether the last good listing tells what runs now. `XvsExpectedTaskDown` is silent without it, too. */
export function hasCurrentListing({ condition }: ServiceCodeStatus): boolean {
  return condition === 'up' || condition === 'idle' || condition === 'lost';
}

function findMissing(status: ServiceCodeStatus): readonly ExpectedTask[] {
  if (!hasCurrentListing(status)) return [];
  return status.expectedTasks.filter(({ condition }) => condition !== 'up' && condition !== 'unknown');
}

/** Counts missing names or, if more, missing live tasks with input, as `XvsTasksBelowExpected` does. */
function countMissing(status: ServiceCodeStatus): number {
  const { totals, expectedTaskCount } = status;
  if (!hasCurrentListing(status) || totals === undefined) return 0;
  const { tasks, tasksWithProgress, stalledTasks, tasksWithoutInput } = totals;
  const receivingInput = tasks - tasksWithProgress - stalledTasks - tasksWithoutInput;
  return Math.max(0, expectedTaskCount - receivingInput, findMissing(status).length);
}

/** How a stream that runs can fall short of what is expected of it. */
const SHORTFALLS = [
  {
    noun: 'slow',
    alert: 'XvsExpectedTaskSlow',
    remedy: 'Check the bit rate of its encoder and the network.',
    describe: ({ slowSinceMs }: ExpectedTask, nowMs: number) =>
      slowSinceMs === undefined ? undefined : `slow since ${formatMoment(slowSinceMs, nowMs)}`,
  },
  {
    noun: 'with fewer outputs',
    alert: 'XvsRenditionMissing',
    remedy: 'Check the transcoding of the stream.',
    describe: ({ outputs = 0, fewerOutputs }: ExpectedTask, nowMs: number) =>
      fewerOutputs &&
      `${outputs} of ${fewerOutputs.than} outputs since ${formatMoment(fewerOutputs.sinceMs, nowMs)}`,
  },
];

/** What an expected stream lacks in a current listing, as marks: `slow since 18:02`. */
export function listShortfalls(
  status: ServiceCodeStatus,
  task: ExpectedTask,
  nowMs: number,
  shortfalls = SHORTFALLS,
): readonly string[] {
  if (!hasCurrentListing(status)) return [];
  return shortfalls.flatMap(({ describe }) => describe(task, nowMs) ?? []);
}

/** `main slow since 18:02`, or `3 slow`. */
function formatShortfalls(
  status: ServiceCodeStatus,
  shortfall: (typeof SHORTFALLS)[number],
  nowMs: number,
): string | undefined {
  const texts = status.expectedTasks.flatMap((task) =>
    listShortfalls(status, task, nowMs, [shortfall]).map((text) => `${task.name} ${text}`),
  );
  return texts.length > 1 ? `${formatCount(texts.length)} ${shortfall.noun}` : texts[0];
}

export function hasMissing(status: ServiceCodeStatus): boolean {
  return countMissing(status) > 0;
}

/** Counts by condition, without the zeros: `2 down, 1 stale, 997 up; 3 tasks stalled`. */
export function formatSummary(rows: readonly ServiceCodeStatus[]): string {
  if (rows.length === 0) return 'no service codes';
  const conditions = Object.entries(CONDITIONS).flatMap(([condition, [, text]]) => {
    const count = rows.filter((row) => row.condition === condition).length;
    return count === 0 ? [] : [`${count} ${text}`];
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

interface Problem {
  /** The lowest is the most severe. */
  readonly rank: number;
  readonly text: string;
  readonly remedies?: readonly string[];
  readonly alert?: string;
}

/** The most severe first. */
export function* findProblems(status: ServiceCodeStatus, nowMs: number): Generator<Problem, void, undefined> {
  const { condition, failure, totals, expectedTaskCount } = status;
  const names = findMissing(status).map((task) => {
    const since = task.sinceMs === undefined ? 'since the start' : formatSince(task.sinceMs, nowMs);
    return `${task.name} has been ${formatTaskCondition(task)} ${since}`;
  });
  const missing = countMissing(status);
  const start = ['Start the stream, or check its encoder and the network.'];
  if (names.length > 0) {
    const text = `Expected: ${names.join(', ')}.`;
    yield { rank: 0, text, remedies: start, alert: 'XvsExpectedTaskDown' };
  } else if (missing > 0) {
    const text = `Expected ${expectedTaskCount} live tasks with input, found ${expectedTaskCount - missing}.`;
    yield { rank: 0, text, remedies: start, alert: 'XvsTasksBelowExpected' };
  }
  if (failure !== undefined) {
    const { message, remedies, reason } = failure;
    const alert = reason === 'api_error' ? 'XvsApiErrors' : 'XvsApiDown';
    yield { rank: 1, text: `${message}.`, remedies, alert };
  }
  if (condition === 'stale') {
    const text = 'The last good listing is older than poll.stale_after.';
    yield { rank: 2, text, remedies: [STALE_LISTING_REMEDY], alert: 'XvsApiDataStale' };
  }
  const loss = formatLoss(status, nowMs);
  if (loss !== undefined) {
    const field = status.loss?.field ?? 'tasks';
    const text = `The listing lost most ${field}: ${loss}.`;
    const alert = field === 'tasks' ? 'XvsTasksDropped' : 'XvsUsersDropped';
    yield { rank: 3, text, remedies: [LOSS_REMEDY], alert };
  }
  const waiting = totals?.byteCountsWaiting ?? 0;
  if (condition === 'idle' && waiting > 0) {
    const text = `${formatQuantity(waiting, 'byte count')} of the last listing wait until the next ones confirm them.`;
    yield { rank: 4, text, remedies: [WAITING_REMEDY], alert: 'XvsBytesImplausible' };
  } else if (condition === 'idle') {
    const text = 'Tasks run, but no byte moved between the last two listings.';
    yield { rank: 4, text, remedies: [NO_TRAFFIC_REMEDY], alert: 'XvsIngestStopped' };
  }
  const { stalledTasks = 0, tasksWithoutInput = 0 } = (hasCurrentListing(status) ? totals : undefined) ?? {};
  const check = ['Check the encoders of these tasks and their network.'];
  if (stalledTasks > 0) {
    const text = `${formatQuantity(stalledTasks, 'task')} stalled: their input flowed and has stopped.`;
    yield { rank: 5, text, remedies: check, alert: 'XvsIngestStalled' };
  }
  if (tasksWithoutInput > 0) {
    const text = `${formatQuantity(tasksWithoutInput, 'task')} never received input.`;
    yield { rank: 6, text, remedies: check, alert: 'XvsTasksWithoutInput' };
  }
  for (const shortfall of SHORTFALLS) {
    const text = formatShortfalls(status, shortfall, nowMs);
    const { remedy, alert } = shortfall;
    if (text !== undefined) yield { rank: 7, text: `Expected: ${text}.`, remedies: [remedy], alert };
  }
  if (condition === 'waiting') yield { rank: 8, text: 'The first poll is in progress.' };
}

/** Sort key of a service code, the most severe lowest. */
export function rankSeverity(status: ServiceCodeStatus, nowMs: number): number {
  const [worst] = findProblems(status, nowMs);
  return worst?.rank ?? Number.MAX_VALUE;
}

export function formatTaskCondition({ condition }: ExpectedTask): string {
  return condition.replace('_', ' ');
}

/** A problem as a line of text, with links to the runbook and the dashboard. */
export function renderProblem(
  { text, remedies = [], alert }: Problem,
  process: ProcessStatus,
  status: ServiceCodeStatus,
): Markup {
  return html`<strong>${text}</strong>
    ${remedies.map((remedy) => html`<span class="try">Try: ${remedy}</span> `)}
    <span class="aside">${renderFailureNote(status, process.nowMs)}</span>
    ${renderLinks(process, status.serviceCode, alert)}`;
}

function renderFailureNote({ failure, totals, lastSuccessMs }: ServiceCodeStatus, nowMs: number): Content {
  if (failure === undefined) return undefined;
  const { pausedUntilMs = 0 } = failure;
  const until = formatMoment(pausedUntilMs, nowMs);
  const pause = pausedUntilMs > nowMs ? `The service asked for a pause until ${until}. ` : '';
  if (totals !== undefined) return html`${pause}The values are from ${renderAge(lastSuccessMs, nowMs)}.`;
  return lastSuccessMs === undefined
    ? `${pause}No poll has succeeded since the exporter started.`
    : `${pause}The last values are older than poll.stale_after.`;
}

/** What is expected and how it was in the last good listing, while there is no current one. */
export function renderLastExpected(status: ServiceCodeStatus, nowMs: number): Markup | undefined {
  const { expectedTasks, expectedTaskCount, lastSuccessMs } = status;
  if (hasCurrentListing(status) || expectedTaskCount === 0) return undefined;
  const names = expectedTasks.map((task) => `${task.name} (${formatTaskCondition(task)})`);
  const expected = names.length === 0 ? formatQuantity(expectedTaskCount, 'live task') : names.join(', ');
  const asOf =
    names.length === 0 || lastSuccessMs === undefined ? '' : html`, as of ${renderAge(lastSuccessMs, nowMs)}`;
  return html`<span class="expected">Expected: ${expected}${asOf}.</span>`;
}
