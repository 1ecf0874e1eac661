import type { PollHistoryEntry } from '../../poller/poll-history.ts';
import type { ListingBreakdown } from '../../diagnostics/listing-breakdown.ts';
import type { ServiceCodeStatus } from '../exporter-facade.ts';
import { renderBarTable } from './bar-table.ts';
import { formatCondition, renderCondition } from './conditions.ts';
import { renderDocument } from './document.ts';
import { renderErrorHelp } from './error-help.ts';
import { formatTimeSpan, formatUtc, renderAge, renderDuration } from './human-units.ts';
import { renderLabels } from './label-list.ts';
import { html, renderName, type Markup } from './markup.ts';
import { findRange, PLOTTED_FIELDS, renderPlot } from './plot.ts';
import { renderRecentPolls } from './recent-polls.ts';
import { renderServerTable } from './server-table.ts';

export interface ServiceCodePageProps {
  readonly version: string;
  readonly telemetryPath: string;
  readonly nowMs: number;
  readonly status: ServiceCodeStatus;
  /** `undefined` if no good listing is recent enough. */
  readonly breakdown: ListingBreakdown | undefined;
}

/** The page of one service code. */
export function renderServiceCodePage({
  version,
  telemetryPath,
  nowMs,
  status,
  breakdown,
}: ServiceCodePageProps): string {
  const { serviceCode, labels, condition, lastPollMs, lastSuccessMs } = status;
  const history = status.history.entries();
  const errorHelp = renderErrorHelp(status, nowMs);
  return renderDocument({
    title: `${serviceCode}: ${formatCondition(condition)} · xvs-exporter`,
    version,
    telemetryPath,
    header: html`<nav aria-label="Back"><a href="/">All service codes</a></nav>
      <h1>${renderName(serviceCode)}</h1>
      <p id="labels" data-live>${renderLabels(labels)}</p>
      <p id="summary" class="summary" role="status" data-live>${renderCondition(status)}</p>`,
    main: html`<div id="code" data-live>
      ${errorHelp === undefined ? '' : html`<p class="error-help">${errorHelp}</p>`}
      <p class="aside">
        Last success: ${renderAge(lastSuccessMs, nowMs)}. Last poll: ${renderAge(lastPollMs, nowMs)}, took
        ${renderDuration(status.history.latestDurationMs)}. As of ${formatUtc(nowMs)}.
      </p>
      ${renderPlots(status, history)}
      ${breakdown === undefined ? html`<p>No recent listing.</p>` : renderBreakdown(breakdown, nowMs)}
      ${renderRecentPolls(history, lastPollMs, nowMs)}
    </div>`,
  });
}

function renderPlots({ totals, condition }: ServiceCodeStatus, history: readonly PollHistoryEntry[]): Markup {
  return html`<section aria-labelledby="history">
    <h2 id="history">The last ${formatTimeSpan(history[0]?.beforeLatestMs ?? 0)}</h2>
    <dl class="plots${condition === 'down' ? ' outdated' : ''}">
      ${PLOTTED_FIELDS.map(({ field, title, renderValue }) => {
        const range = findRange(history, field);
        const rangeText =
          range === undefined ? 'no data' : html`${renderValue(range.min)} to ${renderValue(range.max)}`;
        return html`<div>
          <dt>${title}</dt>
          <dd>
            <span class="value">${renderValue(totals?.[field])}</span
            >${renderPlot(history, field, 'plot large')}
            <span class="aside">${rangeText}</span>
          </dd>
        </div> `;
      })}
    </dl>
  </section>`;
}

function renderBreakdown(breakdown: ListingBreakdown, nowMs: number): Markup {
  const connectionsNote = 'HLS (m3u8) is not metered by the service';
  return html`${renderServerTable(breakdown.servers, nowMs)}
    <div class="breakdown">
      ${renderBarTable('Outputs by format', breakdown.outputsByFormat)}
      ${renderBarTable('Connections by format', breakdown.connectionsByFormat, connectionsNote)}
      ${renderBarTable('Users by client version', breakdown.usersByClientVersion)}
      ${renderBarTable('Users by device type', breakdown.usersByDeviceType)}
      ${renderBarTable('Inputs by protocol', breakdown.inputsByProtocol)}
    </div>`;
}
