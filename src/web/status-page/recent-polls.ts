import type { PollHistoryEntry } from '../../poller/poll-history.ts';
import { describePollError } from './error-help.ts';
import { renderAge, renderCount, renderDuration, UNKNOWN } from './human-units.ts';
import { html, type Markup } from './markup.ts';

const MAX_POLLS = 10;

/** The last polls of a service code, the latest first. `latestMs` is the time of the latest poll. */
export function renderRecentPolls(
  history: readonly PollHistoryEntry[],
  latestMs: number | undefined,
  nowMs: number,
): Markup {
  const latest = history.slice(-MAX_POLLS).toReversed();
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
        ${latest.length === 0 ? noRows : latest.map((entry) => renderRow(entry, latestMs, nowMs))}
      </tbody>
    </table>
  </section>`;
}

function renderRow(entry: PollHistoryEntry, latestMs: number | undefined, nowMs: number): Markup {
  const { beforeLatestMs, durationMs, error, totals } = entry;
  const age = latestMs === undefined ? UNKNOWN : renderAge(latestMs - beforeLatestMs, nowMs);
  const outcome =
    error === undefined
      ? html`<span class="state up"><span class="mark" aria-hidden="true">●</span> ok</span>`
      : html`<span class="state down"><span class="mark" aria-hidden="true">✕</span> failed</span>
          <span class="reason">${describePollError(error)}</span>`;
  return html`<tr>
    <td>${age}</td>
    <td>${outcome}</td>
    <td class="number">${renderDuration(durationMs)}</td>
    <td class="number">${renderCount(totals?.users)}</td>
    <td class="number">${renderCount(totals?.tasks)}</td>
  </tr> `;
}
