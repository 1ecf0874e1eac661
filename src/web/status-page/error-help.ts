import { NO_TRAFFIC_REMEDY, REMEDY_BY_REASON, STALE_LISTING_REMEDY } from '../../diagnostics/remedies.ts';
import { POLL_ERROR_SUMMARY, type PollErrorReason } from '../../upstream/errors.ts';
import type { ServiceCodeStatus } from '../exporter-facade.ts';
import { renderAge } from './human-units.ts';
import { html, type Markup } from './markup.ts';

/** The reason of a failed poll as a sentence; `code` is the `ret` of an `api_error`, the status of an `http_status`. */
export function describePollError(reason: PollErrorReason, code: number | undefined): string {
  const name = reason === 'api_error' ? 'ret' : reason === 'http_status' ? 'HTTP' : undefined;
  const suffix = name === undefined || code === undefined ? '' : ` (${name} ${code})`;
  return `${POLL_ERROR_SUMMARY[reason]}${suffix}.`;
}

/** The problem of a service code and a remedy; `undefined` for a code that is up or waits for its first poll. */
export function renderErrorHelp(status: ServiceCodeStatus, nowMs: number): Markup | undefined {
  const { condition, lastError, ret, httpStatus, lastPollMs } = status;
  const lastPoll = html`Last poll ${renderAge(lastPollMs, nowMs)}`;
  if (condition === 'stale')
    return html`<strong>The last good listing is older than poll.stale_after.</strong>
      <span class="try">Try: ${STALE_LISTING_REMEDY}</span> <span class="aside">${lastPoll}.</span>`;
  if (condition === 'idle')
    return html`<strong>Tasks run, but no byte moved between the last two listings.</strong>
      <span class="try">Try: ${NO_TRAFFIC_REMEDY}</span>`;
  if (condition !== 'down' || lastError === undefined) return undefined;
  return html`<strong>${describePollError(lastError, lastError === 'api_error' ? ret : httpStatus)}</strong>
    <span class="try">Try: ${REMEDY_BY_REASON[lastError]}</span>
    <span class="aside">${lastPoll}; ${renderValuesAge(status, nowMs)}.</span>`;
}

function renderValuesAge({ totals, lastSuccessMs }: ServiceCodeStatus, nowMs: number): Markup {
  if (totals !== undefined) return html`the values are from ${renderAge(lastSuccessMs, nowMs)}`;
  return lastSuccessMs === undefined
    ? html`no poll has succeeded yet`
    : html`the last values are older than poll.stale_after`;
}
