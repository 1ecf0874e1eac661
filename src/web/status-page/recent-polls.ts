import type { PollPoint } from '../../poller/poll-history.ts';
import { ago, count, shortDuration, UNKNOWN } from './human-units.ts';
import { html, type Markup } from './markup.ts';
import { wordsOf } from './trouble.ts';

/** So many are told one by one; the plots have the rest. */
const MAX_POLLS = 10;

/** The last polls, the latest first. */
export function lastPolls(points: readonly PollPoint[], latestMs: number | undefined, nowMs: number): Markup {
  const latest = points.slice(-MAX_POLLS).toReversed();
  return html`<section>
    <table class="polls">
      <caption>
        The last polls
      </caption>
      <thead>
        <tr>
          <th scope="col">When</th>
          <th scope="col">Outcome</th>
          <th scope="col" class="number">Took</th>
          <th scope="col" class="number">Users</th>
          <th scope="col" class="number">Tasks</th>
        </tr>
      </thead>
      <tbody>
        ${
          latest.length === 0
            ? html`<tr>
                <td colspan="5" class="aside">none yet</td>
              </tr>`
            : latest.map((point) => row(point, latestMs, nowMs))
        }
      </tbody>
    </table>
  </section>`;
}

function row(point: PollPoint, latestMs: number | undefined, nowMs: number): Markup {
  const { beforeLatestMs, durationMs, error, figures } = point;
  const when = latestMs === undefined ? UNKNOWN : ago(latestMs - beforeLatestMs, nowMs);
  const outcome =
    error === undefined
      ? html`<span class="state up"><span class="mark" aria-hidden="true">●</span> good</span>`
      : html`<span class="state down"><span class="mark" aria-hidden="true">✕</span> failed</span>
          <span class="why">${wordsOf(error)}</span>`;
  return html`<tr>
    <td>${when}</td>
    <td>${outcome}</td>
    <td class="number">${shortDuration(durationMs)}</td>
    <td class="number">${count(figures?.users)}</td>
    <td class="number">${count(figures?.tasks)}</td>
  </tr> `;
}
