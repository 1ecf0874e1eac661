import type { PollingStatus, ServiceCodeStatus } from '../exporter-facade.ts';
import { formatExplainCommand } from './explain-command.ts';
import { formatTimeSpan, renderAge, renderDuration, UNKNOWN } from './human-units.ts';
import { html, renderName, type Markup } from './markup.ts';

/** Where, when and with what outcome a service code is polled, and the command that explains a poll. */
export function renderPollingFacts(
  status: ServiceCodeStatus,
  polling: PollingStatus | undefined,
  configurationFile: string | undefined,
  nowMs: number,
): Markup {
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
