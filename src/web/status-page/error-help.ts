import { REMEDY_BY_REASON, STALE_LISTING_REMEDY } from '../../diagnostics/remedies.ts';
import { POLL_ERROR_SUMMARY, type PollErrorReason } from '../../upstream/errors.ts';
import type { ServiceCodeStatus } from '../exporter-facade.ts';
import { renderAge } from './human-units.ts';
import { html, type Markup } from './markup.ts';

/** The reason of a failed poll as a sentence, with the `ret` of the service if there is one. */
export function describePollError(reason: PollErrorReason, ret?: number): string {
  const suffix = reason === 'api_error' && ret !== undefined ? ` (ret ${ret})` : '';
  return `${POLL_ERROR_SUMMARY[reason]}${suffix}.`;
}

/** The error and a remedy for a service code that is down or stale; `undefined` for others. */
export function renderErrorHelp(status: ServiceCodeStatus, nowMs: number): Markup | undefined {
  const { condition, lastError, ret, lastPollMs } = status;
  const lastPoll = html`Last poll ${renderAge(lastPollMs, nowMs)}`;
  if (condition === 'stale')
    return html`<strong>The last good listing is older than poll.stale_after.</strong>
      <span class="try">Try: ${STALE_LISTING_REMEDY}</span> <span class="aside">${lastPoll}.</span>`;
  if (condition !== 'down' || lastError === undefined) return undefined;
  return html`<strong>${describePollError(lastError, ret)}</strong>
    <span class="try">Try: ${REMEDY_BY_REASON[lastError]}</span>
    <span class="aside">${lastPoll}; ${renderValuesAge(status, nowMs)}.</span>`;
}

function renderValuesAge({ totals, lastSuccessMs }: ServiceCodeStatus, nowMs: number): Markup {
  if (totals !== undefined) return html`the values are from ${renderAge(lastSuccessMs, nowMs)}`;
  return lastSuccessMs === undefined
    ? html`no poll has succeeded yet`
    : html`the last values are older than poll.stale_after`;
}
