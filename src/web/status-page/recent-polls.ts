import { HISTORY_CAPACITY, type PollHistoryEntry } from '../../poller/poll-history.ts';
import { describePollError } from './error-help.ts';
import { renderAge, renderCount, renderDuration, UNKNOWN } from './human-units.ts';
import { html, type Markup } from './markup.ts';

const MAX_ROWS = 10;

/** Polls in a row with the same failure, or a single poll. */
interface PollRun {
  readonly latest: PollHistoryEntry;
  readonly earliest: PollHistoryEntry;
  readonly count: number;
  /** Whether the polls before the run are not remembered, so that it may be longer. */
  readonly isCut: boolean;
}

/** The last polls of a service code, the latest first. `latestMs` is the time of the latest poll. */
export function renderRecentPolls(
  history: readonly PollHistoryEntry[],
  latestMs: number | undefined,
  nowMs: number,
): Markup {
  const runs = groupPolls(history).slice(0, MAX_ROWS);
  const noRows = html`<tr>
    <td colspan="5" class="aside">none yet</td>
  </tr>`;
  return html`<section>
    <table class="polls">
      <caption>
        Recent polls
      </caption>
      <thead>
        <tr>
          <th scope="col">Time</th>
          <th scope="col">Outcome</th>
          <th scope="col" class="number">Duration</th>
          <th scope="col" class="number">Users</th>
          <th scope="col" class="number">Tasks</th>
        </tr>
      </thead>
      <tbody>
        ${runs.length === 0 ? noRows : runs.map((run) => renderRow(run, latestMs, nowMs))}
      </tbody>
    </table>
  </section>`;
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
    else runs.push({ latest: entry, earliest: entry, count: 1, isCut: false });
  }
  const oldest = runs.at(-1);
  if (history.length === HISTORY_CAPACITY && oldest?.latest.error !== undefined)
    runs[runs.length - 1] = { ...oldest, isCut: true };
  return runs;
}

function renderRow(
  { latest, earliest, count, isCut }: PollRun,
  latestMs: number | undefined,
  nowMs: number,
): Markup {
  const { durationMs, error, errorCode, totals } = latest;
  const renderTime = ({ beforeLatestMs }: PollHistoryEntry): Markup =>
    latestMs === undefined ? UNKNOWN : renderAge(latestMs - beforeLatestMs, nowMs);
  const repetition =
    count === 1
      ? ''
      : html` <span class="aside"
          >${count}${isCut ? ' or more' : ''} polls, since ${renderTime(earliest)}</span
        >`;
  const outcome =
    error === undefined
      ? html`<span class="state up"><span class="mark" aria-hidden="true">●</span> ok</span>`
      : html`<span class="state down"><span class="mark" aria-hidden="true">✕</span> failed</span>
          <span class="reason">${describePollError(error, errorCode)}</span>${repetition}`;
  return html`<tr>
    <td>${renderTime(latest)}</td>
    <td>${outcome}</td>
    <td class="number">${renderDuration(durationMs)}</td>
    <td class="number">${renderCount(totals?.users)}</td>
    <td class="number">${renderCount(totals?.tasks)}</td>
  </tr> `;
}
