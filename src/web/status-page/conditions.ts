import { formatRejectedEntry } from '../../listing/listing.ts';
import { formatTaskCondition, type ExpectedTask } from '../../tally/expectations.ts';
import { findReportedTasks } from '../../tally/losses/losses.ts';
import type { ServiceCodeCondition, ServiceCodeStatus } from '../exporter-facade.ts';
import { formatCount, formatMoment, formatQuantity, formatSince, renderAge } from './human-units.ts';
import { html, type Content, type Markup } from './markup.ts';
import { ALERTS, type PageProblem } from './problems.ts';

/** By severity. Symbols differ in shape, so that the colour is never the only difference. */
const CONDITIONS: Readonly<Record<ServiceCodeCondition, readonly [symbol: string, text: string]>> = {
  down: ['✕', 'down'],
  stale: ['◆', 'stale'],
  lost: ['▼', 'lost'],
  idle: ['◐', 'no traffic'],
  waiting: ['○', 'not polled yet'],
  up: ['●', 'up'],
};

const IDLE_REMEDIES = [
  ALERTS.XvsIngestStalled[1],
  'If the service updates byte counts less often than poll.interval, raise poll.interval.',
];

export function formatCondition(condition: ServiceCodeCondition): string {
  return CONDITIONS[condition][1];
}

/** The condition as a symbol and a word, since when it is down, and marks of problems. */
export function renderCondition(status: ServiceCodeStatus, nowMs: number): Markup {
  const { condition, failure } = status;
  const [symbol, text] = CONDITIONS[condition];
  const since = failure === undefined ? '' : html` <span>${formatSince(failure.sinceMs, nowMs)}</span>`;
  return html`<span class="state ${condition}"
      ><span class="mark" aria-hidden="true">${symbol}</span> ${text}</span
    >${since} ${listMarks(status, nowMs).map(renderMark)}`;
}

/** Lists the marks of the last listing: `2 missing`, `main slow since 18:02`. */
export function listMarks(status: ServiceCodeStatus, nowMs: number): readonly string[] {
  const { rejected, stalledTasks, tasksWithoutInput, byteCountsWaiting, tasksWithoutAccount } =
    status.totals ?? {};
  const stopped = countStopped(status);
  const first = rejected?.first === undefined ? '' : `, first ${formatRejectedEntry(rejected.first)}`;
  const marks = [
    formatMark(countMissing(status), 'missing'),
    formatLoss(status, nowMs),
    formatMark(stalledTasks, 'stalled'),
    formatMark(tasksWithoutInput, 'without input'),
    ...SHORTFALLS.map((shortfall) => formatShort(status, shortfall, nowMs)),
    stopped === 0 ? undefined : `${formatQuantity(stopped, 'server')} without delivery`,
    formatMark(byteCountsWaiting, 'byte counts wait'),
    formatMark(rejected?.count, `rejected${first}`),
    formatMark(tasksWithoutAccount, 'tasks without accounts'),
  ];
  return marks.filter((mark) => mark !== undefined);
}

function formatMark(count = 0, text: string): string | undefined {
  return count === 0 ? undefined : `${formatCount(count)} ${text}`;
}

/** A warning with a symbol. */
export function renderMark(text: string): Markup {
  return html`<span class="warning"><span class="mark" aria-hidden="true">▲</span> ${text}</span> `;
}

/** What most tasks or users of a current listing were lost from: `tasks 20 → 5 since 18:02`. */
function formatLoss({ condition, losses, totals }: ServiceCodeStatus, nowMs: number): string | undefined {
  if (condition !== 'lost') return undefined;
  const field = findReportedTasks({ losses, users: totals?.users ?? 0 }) === undefined ? 'users' : 'tasks';
  const { before = 0, since } = losses[field] ?? {};
  return `${field} ${formatCount(before)} → ${formatCount(totals?.[field] ?? 0)} since ${formatMoment(since?.wallMs ?? 0, nowMs)}`;
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
  if (!hasCurrentListing(status) || status.totals === undefined) return 0;
  const { tasks, tasksWithProgress, stalledTasks, tasksWithoutInput } = status.totals;
  const receiving = tasks - tasksWithProgress - stalledTasks - tasksWithoutInput;
  return Math.max(0, status.expectedTaskCount - receiving, findMissing(status).length);
}

/** Counts servers that deliver nothing to viewers of some format. */
const countStopped = ({ losses }: ServiceCodeStatus): number =>
  new Set(losses.deliveries.map(({ vsId }) => vsId)).size;

/** How a stream that runs can fall short of what is expected of it. */
interface Shortfall {
  readonly noun: string;
  readonly alert: PageProblem['alert'];
  readonly describe: (task: ExpectedTask, nowMs: number) => string | undefined;
}

const SLOW: Shortfall = {
  noun: 'slow',
  alert: 'XvsExpectedTaskSlow',
  describe: ({ slowSinceMs }, nowMs) =>
    slowSinceMs === undefined ? undefined : `slow since ${formatMoment(slowSinceMs, nowMs)}`,
};

const FEWER_OUTPUTS: Shortfall = {
  noun: 'with fewer outputs',
  alert: 'XvsRenditionMissing',
  describe: ({ outputs = 0, fewerOutputs }, nowMs) =>
    fewerOutputs &&
    `${outputs} of ${fewerOutputs.than} outputs since ${formatMoment(fewerOutputs.sinceMs, nowMs)}`,
};

const SHORTFALLS = [SLOW, FEWER_OUTPUTS];

/** Lists the shortfalls of an expected stream in a current listing, as marks: `slow since 18:02`. */
export function listShortfalls(
  status: ServiceCodeStatus,
  task: ExpectedTask,
  nowMs: number,
  shortfalls = SHORTFALLS,
): readonly string[] {
  if (!hasCurrentListing(status)) return [];
  return shortfalls.flatMap(({ describe }) => describe(task, nowMs) ?? []);
}

/** The expected streams that lack something: `main slow since 18:02`. */
function listShort(status: ServiceCodeStatus, shortfall: Shortfall, nowMs: number): readonly string[] {
  return status.expectedTasks.flatMap((task) =>
    listShortfalls(status, task, nowMs, [shortfall]).map((text) => `${task.name} ${text}`),
  );
}

/** `main slow since 18:02`, or `3 slow`. */
function formatShort(status: ServiceCodeStatus, shortfall: Shortfall, nowMs: number): string | undefined {
  const texts = listShort(status, shortfall, nowMs);
  return texts.length > 1 ? formatMark(texts.length, shortfall.noun) : texts[0];
}

/** Counts by condition, without the zeros, and what is wrong: `2 down, 997 up; 3 tasks stalled`. */
export function formatSummary(rows: readonly ServiceCodeStatus[], nowMs: number): string {
  if (rows.length === 0) return 'no service codes';
  const conditions = Object.entries(CONDITIONS).flatMap(([condition, [, text]]) => {
    const count = rows.filter((row) => row.condition === condition).length;
    return count === 0 ? [] : [`${count} ${text}`];
  });
  return conditions.join(', ') + formatProblemCounts(rows, nowMs);
}

export function formatProblemCounts(rows: readonly ServiceCodeStatus[], nowMs: number): string {
  const formatSum = (noun: string, text: string, countOf: (row: ServiceCodeStatus) => number) => {
    const sum = rows.reduce((total, row) => total + countOf(row), 0);
    return sum === 0 ? '' : `; ${formatQuantity(sum, noun)} ${text}`;
  };
  return [
    formatSum('expected stream', 'missing', countMissing),
    formatSum('expected stream', 'slow', (row) => listShort(row, SLOW, nowMs).length),
    formatSum('server', 'without delivery', countStopped),
    formatSum('task', 'stalled', ({ totals }) => totals?.stalledTasks ?? 0),
    formatSum('task', 'without input', ({ totals }) => totals?.tasksWithoutInput ?? 0),
  ].join('');
}

/** The most severe first. */
export function* findProblems(status: ServiceCodeStatus, nowMs: number): Generator<PageProblem, void> {
  const { condition, failure, expectedTaskCount, losses } = status;
  const names = findMissing(status).map((task) => {
    const since = task.sinceMs === undefined ? 'since the start' : formatSince(task.sinceMs, nowMs);
    return `${task.name} has been ${formatTaskCondition(task.condition)} ${since}`;
  });
  const missing = countMissing(status);
  if (names.length > 0) yield { text: `Expected: ${names.join(', ')}.`, alert: 'XvsExpectedTaskDown' };
  if (missing > names.length) {
    const text = `Expected ${expectedTaskCount} live tasks with input, found ${expectedTaskCount - missing}.`;
    yield { text, alert: 'XvsTasksBelowExpected' };
  }
  if (failure !== undefined)
    yield { text: `${failure.message}.`, remedies: failure.remedies, alert: 'XvsApiDown' };
  if (condition === 'stale')
    yield { text: 'The last good listing is older than poll.stale_after.', alert: 'XvsApiDown' };
  yield* findShort(status, SLOW, nowMs);
  if (losses.ingest !== undefined) {
    const { before, since } = losses.ingest;
    const text = `Most of ${before} live tasks have received nothing ${formatSince(since.wallMs, nowMs)}.`;
    yield { text, alert: 'XvsIngestStopped' };
  }
  const stopped = losses.deliveries.map(
    ({ vsId, format, since }) => `${format} from ${vsId} ${formatSince(since.wallMs, nowMs)}`,
  );
  if (stopped.length > 0)
    yield { text: `Viewers have received no ${stopped.join(', no ')}.`, alert: 'XvsDeliveryBlackhole' };
  const loss = formatLoss(status, nowMs);
  if (loss !== undefined) {
    const field = loss.startsWith('tasks') ? 'tasks' : 'users';
    const alert = field === 'tasks' ? 'XvsTasksDropped' : 'XvsUsersDropped';
    yield { text: `The listing lost most ${field}: ${loss}.`, alert };
  }
  const servers = losses.servers.map(
    ({ vsId, before, since }) =>
      `${vsId} with ${formatQuantity(before, 'task')} ${formatSince(since.wallMs, nowMs)}`,
  );
  if (servers.length > 0)
    yield { text: `Servers have left the listing: ${servers.join(', ')}.`, alert: 'XvsServerDisappeared' };
  if (losses.ingest === undefined) yield* findSilent(status);
  yield* findShort(status, FEWER_OUTPUTS, nowMs);
}

function* findShort(status: ServiceCodeStatus, shortfall: Shortfall, nowMs: number): Generator<PageProblem> {
  const texts = listShort(status, shortfall, nowMs);
  if (texts.length > 0) yield { text: `Expected: ${texts.join(', ')}.`, alert: shortfall.alert };
}

/** Tasks that receive nothing, or seem to. */
function* findSilent(status: ServiceCodeStatus): Generator<PageProblem> {
  const { condition, totals } = status;
  if (!hasCurrentListing(status) || totals === undefined) return;
  const { byteCountsWaiting, stalledTasks, tasksWithoutInput } = totals;
  if (condition === 'idle' && byteCountsWaiting > 0) {
    const text = `${formatQuantity(byteCountsWaiting, 'byte count')} of the last listing wait until the next ones confirm them.`;
    yield { text, alert: 'XvsBytesImplausible' };
  } else if (condition === 'idle') {
    const text = 'Tasks run, but no byte moved between the last two listings.';
    yield { text, remedies: IDLE_REMEDIES, alert: 'XvsIngestStalled' };
  } else if (stalledTasks > 0) {
    const text = `${formatQuantity(stalledTasks, 'task')} stalled: their input flowed and has stopped.`;
    yield { text, alert: 'XvsIngestStalled' };
  }
  if (tasksWithoutInput > 0) {
    const text = `${formatQuantity(tasksWithoutInput, 'task')} never received input.`;
    yield { text, alert: 'XvsTasksWithoutInput' };
  }
}

/** How old the values of a service code are that is down. */
export function renderFailureNote(
  { failure, totals, lastSuccessMs }: ServiceCodeStatus,
  nowMs: number,
): Content {
  if (failure === undefined) return undefined;
  const { pausedUntilMs = 0 } = failure;
  const until = formatMoment(pausedUntilMs, nowMs);
  const pause = pausedUntilMs > nowMs ? `The service asked for a pause until ${until}. ` : '';
  if (totals !== undefined) return html`${pause}The values are from ${renderAge(lastSuccessMs, nowMs)}.`;
  return lastSuccessMs === undefined
    ? `${pause}No poll has succeeded since the exporter started.`
    : `${pause}The last values are older than poll.stale_after.`;
}

/** Renders the expected streams, as in the last good listing, while there is no current one. */
export function renderLastExpected(status: ServiceCodeStatus, nowMs: number): Markup | undefined {
  const { expectedTasks, expectedTaskCount, lastSuccessMs } = status;
  if (hasCurrentListing(status) || expectedTaskCount === 0) return undefined;
  const names = expectedTasks.map((task) => `${task.name} (${formatTaskCondition(task.condition)})`);
  const expected = names.length === 0 ? formatQuantity(expectedTaskCount, 'live task') : names.join(', ');
  const asOf =
    names.length === 0 || lastSuccessMs === undefined ? '' : html`, as of ${renderAge(lastSuccessMs, nowMs)}`;
  return html`<span class="expected">Expected: ${expected}${asOf}.</span>`;
}
