import { formatRejectedEntry } from '../../listing/listing.ts';
import { formatTaskCondition, type ExpectedTask } from '../../tally/expectations.ts';
import { findReportedTasks } from '../../tally/losses/losses.ts';
import type { ListingTotals } from '../listing-totals.ts';
import type { ServiceCodeStatus } from '../exporter-facade.ts';
import { formatCount, formatFirst, formatMoment, formatQuantity, formatSince } from './human-units.ts';
import { ALERTS, findExpiry, rankSeverity, type PageProblem } from './problems.ts';

/** What is wrong with a service code: the sentence of its page, the mark beside its state, or both. */
export interface CodeProblem {
  readonly alert: PageProblem['alert'];
  readonly text?: string;
  /** Default: the action of the alert. */
  readonly remedies?: readonly string[];
  readonly severity?: 'critical';
  /** `2 missing`, `main slow since 18:02`. */
  readonly mark?: string;
  /** How often, for the headline: `2 expected streams missing`. */
  readonly total?: { readonly count: number; readonly noun: string; readonly text: string };
}

/** A service code with its problems, found once for each view. */
export interface ExaminedCode {
  readonly status: ServiceCodeStatus;
  /** The most severe first. */
  readonly problems: readonly CodeProblem[];
}

export function examine(status: ServiceCodeStatus, nowMs: number): ExaminedCode {
  const problems = [...findFailures(status, nowMs), ...findOfListing(status, nowMs)];
  return { status, problems: problems.toSorted((a, b) => rankSeverity(a) - rankSeverity(b)) };
}

/** The problems that have a sentence. */
export function listProblems({ problems }: ExaminedCode): readonly PageProblem[] {
  return problems.flatMap(({ text, ...problem }) => (text === undefined ? [] : [{ ...problem, text }]));
}

export function listMarks({ problems }: ExaminedCode): readonly string[] {
  return problems.flatMap(({ mark }) => mark ?? []);
}

function* findFailures(
  { condition, failure, certificateNotAfterMs }: ServiceCodeStatus,
  nowMs: number,
): Generator<CodeProblem, void> {
  if (failure !== undefined)
    yield { alert: 'XvsApiDown', text: `${failure.message}.`, remedies: failure.remedies };
  if (condition === 'stale')
    yield { alert: 'XvsApiDown', text: 'The last good listing is older than poll.stale_after.' };
  const expiry = findExpiry(certificateNotAfterMs, nowMs);
  if (expiry !== undefined) {
    const text = `A certificate by which the service is verified ${expiry.text}.`;
    yield { ...expiry, alert: 'XvsUpstreamCertificateExpires', text, mark: `certificate ${expiry.text}` };
  }
}

/** What the last good listing shows, until it is stale: alerts outlast failed polls, too. */
function* findOfListing(status: ServiceCodeStatus, nowMs: number): Generator<CodeProblem, void> {
  const { totals } = status;
  if (totals === undefined) return;
  yield* findMissing(status, totals, nowMs);
  yield* findShort(status, SLOW, nowMs);
  yield* findLosses(status, totals, nowMs);
  yield* findSilent(status, totals);
  yield* findShort(status, FEWER_OUTPUTS, nowMs);
  const { rejected, byteCountsWaiting, tasksWithoutAccount } = totals;
  const first = rejected.first === undefined ? '' : `, first ${formatRejectedEntry(rejected.first)}`;
  if (byteCountsWaiting > 0)
    yield { alert: 'XvsBytesImplausible', mark: `${formatCount(byteCountsWaiting)} byte counts wait` };
  if (rejected.count > 0)
    yield { alert: 'XvsInvalidRecords', mark: `${formatCount(rejected.count)} rejected${first}` };
  if (tasksWithoutAccount > 0)
    yield { alert: 'XvsBytesNotCounted', mark: `${formatCount(tasksWithoutAccount)} tasks without accounts` };
}

/** Missing names and, if more are missing, missing live tasks with input, as `XvsTasksBelowExpected`. */
function* findMissing(
  { expectedTasks, expectedTaskCount }: ServiceCodeStatus,
  { tasks, tasksWithProgress, stalledTasks, tasksWithoutInput }: ListingTotals,
  nowMs: number,
): Generator<CodeProblem, void> {
  const names = expectedTasks.filter(({ condition }) => condition !== 'up' && condition !== 'unknown');
  const receiving = tasks - tasksWithProgress - stalledTasks - tasksWithoutInput;
  const count = Math.max(expectedTaskCount - receiving, names.length);
  const counted = {
    mark: `${formatCount(count)} missing`,
    total: { count, noun: 'expected stream', text: 'missing' },
  };
  if (names.length > 0) {
    const list = formatFirst(names, ({ name, condition, sinceMs }) => {
      const since = sinceMs === undefined ? 'since the start' : formatSince(sinceMs, nowMs);
      return `${name} has been ${formatTaskCondition(condition)} ${since}`;
    });
    yield { alert: 'XvsExpectedTaskDown', text: `Expected: ${list}.`, ...counted };
  }
  if (count > names.length) {
    const text = `Expected ${expectedTaskCount} live tasks with input, found ${expectedTaskCount - count}.`;
    yield { alert: 'XvsTasksBelowExpected', text, ...(names.length === 0 && counted) };
  }
}

/** How a stream that runs can fall short of what is expected of it. */
interface Shortfall {
  readonly alert: PageProblem['alert'];
  readonly noun: string;
  readonly getSinceMs: (task: ExpectedTask) => number | undefined;
  readonly describe: (task: ExpectedTask) => string;
}

const SLOW: Shortfall = {
  alert: 'XvsExpectedTaskSlow',
  noun: 'slow',
  getSinceMs: ({ slowSinceMs }) => slowSinceMs,
  describe: () => 'slow',
};

const FEWER_OUTPUTS: Shortfall = {
  alert: 'XvsRenditionMissing',
  noun: 'with fewer outputs',
  getSinceMs: ({ fewerOutputs }) => fewerOutputs?.sinceMs,
  describe: ({ outputs = 0, fewerOutputs }) => `${outputs} of ${fewerOutputs?.than ?? 0} outputs`,
};

/** Lists the shortfalls of an expected stream, as marks: `slow since 18:02`. */
export function listShortfalls(task: ExpectedTask, nowMs: number): readonly string[] {
  return [SLOW, FEWER_OUTPUTS]
    .filter(({ getSinceMs }) => getSinceMs(task) !== undefined)
    .map((shortfall) => formatShortfall(task, shortfall, nowMs));
}

function formatShortfall(task: ExpectedTask, { describe, getSinceMs }: Shortfall, nowMs: number): string {
  return `${describe(task)} since ${formatMoment(getSinceMs(task) ?? nowMs, nowMs)}`;
}

function* findShort(
  { expectedTasks }: ServiceCodeStatus,
  shortfall: Shortfall,
  nowMs: number,
): Generator<CodeProblem, void> {
  const { alert, noun, getSinceMs } = shortfall;
  const short = expectedTasks.filter((task) => getSinceMs(task) !== undefined);
  if (short.length === 0) return;
  const list = formatFirst(short, (task) => `${task.name} ${formatShortfall(task, shortfall, nowMs)}`);
  yield {
    alert,
    text: `Expected: ${list}.`,
    mark: short.length === 1 ? list : `${formatCount(short.length)} ${noun}`,
    total: { count: short.length, noun: 'expected stream', text: noun },
  };
}

function* findLosses(
  { losses }: ServiceCodeStatus,
  totals: ListingTotals,
  nowMs: number,
): Generator<CodeProblem, void> {
  const { ingest, deliveries, servers } = losses;
  if (ingest !== undefined) {
    const since = formatSince(ingest.since.wallMs, nowMs);
    const text = `Most of ${formatQuantity(ingest.before, 'live task')} have received nothing ${since}.`;
    yield { alert: 'XvsIngestStopped', text };
  }
  if (deliveries.length > 0) {
    const list = formatFirst(
      deliveries,
      ({ vsId, format, since }) => `no ${format} from ${vsId} ${formatSince(since.wallMs, nowMs)}`,
    );
    const count = new Set(deliveries.map(({ vsId }) => vsId)).size;
    yield {
      alert: 'XvsDeliveryBlackhole',
      text: `Viewers have received ${list}.`,
      mark: `${formatQuantity(count, 'server')} without delivery`,
      total: { count, noun: 'server', text: 'without delivery' },
    };
  }
  const lost = [
    ['tasks', 'XvsTasksDropped', findReportedTasks({ losses, users: totals.users })],
    ['users', 'XvsUsersDropped', losses.users],
  ] as const;
  for (const [field, alert, loss] of lost) {
    if (loss === undefined) continue;
    const mark = `${field} ${formatCount(loss.before)} → ${formatCount(totals[field])} since ${formatMoment(loss.since.wallMs, nowMs)}`;
    yield { alert, text: `The listing lost most ${field}: ${mark}.`, mark };
  }
  if (servers.length > 0) {
    const list = formatFirst(
      servers,
      ({ vsId, before, since }) =>
        `${vsId} with ${formatQuantity(before, 'task')} ${formatSince(since.wallMs, nowMs)}`,
    );
    const mark = `${formatQuantity(servers.length, 'server')} gone`;
    yield { alert: 'XvsServerDisappeared', text: `Servers have left the listing: ${list}.`, mark };
  }
}

const IDLE_REMEDIES = [
  ALERTS.XvsIngestStalled[1],
  'If the service updates byte counts less often than poll.interval, raise poll.interval.',
];

/** Tasks that receive nothing, or seem to. The stop of most explains them. */
function* findSilent(
  { condition, losses }: ServiceCodeStatus,
  { byteCountsWaiting, stalledTasks, tasksWithoutInput }: ListingTotals,
): Generator<CodeProblem, void> {
  const isExplained = losses.ingest !== undefined;
  if (condition === 'idle' && !isExplained) {
    const waiting = `${formatQuantity(byteCountsWaiting, 'byte count')} of the last listing wait until the next ones confirm them.`;
    const text = 'Tasks run, but no byte moved between the last two listings.';
    yield byteCountsWaiting > 0
      ? { alert: 'XvsBytesImplausible', text: waiting }
      : { alert: 'XvsIngestStalled', text, remedies: IDLE_REMEDIES };
  }
  if (stalledTasks > 0) {
    const text = `${formatQuantity(stalledTasks, 'task')} stalled: their input flowed and has stopped.`;
    yield {
      alert: 'XvsIngestStalled',
      ...(!isExplained && condition !== 'idle' && { text }),
      mark: `${formatCount(stalledTasks)} stalled`,
      total: { count: stalledTasks, noun: 'task', text: 'stalled' },
    };
  }
  if (tasksWithoutInput > 0) {
    const text = `${formatQuantity(tasksWithoutInput, 'task')} never received input.`;
    yield {
      alert: 'XvsTasksWithoutInput',
      ...(!isExplained && { text }),
      mark: `${formatCount(tasksWithoutInput)} without input`,
      total: { count: tasksWithoutInput, noun: 'task', text: 'without input' },
    };
  }
}
