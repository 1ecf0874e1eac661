import { formatTaskCondition } from '../../tally/expectations.ts';
import type { ServiceCodeCondition, ServiceCodeStatus } from '../exporter-facade.ts';
import { listMarks, type CodeProblem, type ExaminedCode } from './code-problems.ts';
import { formatFirst, formatMoment, formatQuantity, formatSince, renderAge } from './human-units.ts';
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

export function formatCondition(condition: ServiceCodeCondition): string {
  return CONDITIONS[condition][1];
}

/** The condition as a symbol and a word, since when it is down, and marks of problems. */
export function renderCondition(examined: ExaminedCode, nowMs: number): Markup {
  const { condition, failure } = examined.status;
  const [symbol, text] = CONDITIONS[condition];
  const since = failure === undefined ? '' : html` <span>${formatSince(failure.sinceMs, nowMs)}</span>`;
  return html`<span class="state ${condition}"
      ><span class="mark" aria-hidden="true">${symbol}</span> ${text}</span
    >${since} ${listMarks(examined).map(renderMark)}`;
}

/** A warning with a symbol. */
export function renderMark(text: string): Markup {
  return html`<span class="warning"><span class="mark" aria-hidden="true">▲</span> ${text}</span> `;
}

/** Counts by condition, without the zeros, and what is wrong: `2 down, 997 up; 3 tasks stalled`. */
export function formatSummary(codes: readonly ExaminedCode[]): string {
  if (codes.length === 0) return 'no service codes';
  const conditions = Object.entries(CONDITIONS).flatMap(([condition, [, text]]) => {
    const count = codes.filter(({ status }) => status.condition === condition).length;
    return count === 0 ? [] : [`${count} ${text}`];
  });
  return conditions.join(', ') + formatProblemCounts(codes);
}

const HEADLINES: readonly (readonly [noun: string, text: string])[] = [
  ['expected stream', 'missing'],
  ['expected stream', 'slow'],
  ['server', 'without delivery'],
  ['task', 'stalled'],
  ['task', 'without input'],
];

export function formatProblemCounts(codes: readonly ExaminedCode[]): string {
  return HEADLINES.map(([noun, text]) => {
    const isMeant = ({ total }: CodeProblem): boolean => total?.noun === noun && total.text === text;
    const sum = codes.reduce((count, { problems }) => count + (problems.find(isMeant)?.total?.count ?? 0), 0);
    return sum === 0 ? '' : `; ${formatQuantity(sum, noun)} ${text}`;
  }).join('');
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
    ? `${pause}No poll of this process has succeeded.`
    : `${pause}The last values are older than poll.stale_after.`;
}

/** Renders the expected streams, as in the last good listing, if that is stale. */
export function renderLastExpected(status: ServiceCodeStatus, nowMs: number): Markup | undefined {
  const { expectedTasks, expectedTaskCount, lastSuccessMs, totals } = status;
  if (totals !== undefined || expectedTaskCount === 0) return undefined;
  const names = formatFirst(
    expectedTasks,
    ({ name, condition }) => `${name} (${formatTaskCondition(condition)})`,
  );
  const expected = names === '' ? formatQuantity(expectedTaskCount, 'live task') : names;
  const asOf =
    names === '' || lastSuccessMs === undefined ? '' : html`, as of ${renderAge(lastSuccessMs, nowMs)}`;
  return html`<span class="expected">Expected: ${expected}${asOf}.</span>`;
}
