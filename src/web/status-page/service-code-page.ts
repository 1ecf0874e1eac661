import type { ListingBreakdown } from '../../diagnostics/listing-breakdown.ts';
import type { PollHistoryEntry } from '../../poller/poll-history.ts';
import type { PollingStatus, ServiceCodeStatus } from '../exporter-facade.ts';
import { renderBarTable } from './bar-table.ts';
import { formatCondition, renderCondition } from './conditions.ts';
import { renderDocument, type PageContext } from './document.ts';
import { renderErrorHelp } from './error-help.ts';
import { findIcon } from './favicon.ts';
import { formatTimeSpan, formatUtc } from './human-units.ts';
import { renderLabels } from './label-list.ts';
import { html, renderName, type Markup } from './markup.ts';
import { PLOTTED_FIELDS } from './plotted-fields.ts';
import { renderPollingFacts } from './polling-facts.ts';
import { renderRecentPolls } from './recent-polls.ts';
import { renderServerTable } from './server-table.ts';
import { renderTaskTables } from './task-tables.ts';
import { renderTimePlot } from './time-plot.ts';

export interface ServiceCodePageProps extends PageContext {
  readonly status: ServiceCodeStatus;
  readonly polling: PollingStatus | undefined;
  readonly configurationFile: string | undefined;
  /** `undefined` if no good listing is recent enough. */
  readonly breakdown: ListingBreakdown | undefined;
}

/** The page of one service code. */
export function renderServiceCodePage({
  status,
  polling,
  configurationFile,
  breakdown,
  ...context
}: ServiceCodePageProps): string {
  const { nowMs } = context;
  const { serviceCode, labels, condition, lastPollMs } = status;
  const history = status.history.entries();
  const errorHelp = renderErrorHelp(status, nowMs);
  return renderDocument({
    ...context,
    title: `${serviceCode}: ${formatCondition(condition)} · xvs-exporter`,
    icon: findIcon(status),
    isLive: true,
    header: html`<nav aria-label="Back"><a href="/">All service codes</a></nav>
      <h1>${renderName(serviceCode)}</h1>
      <p id="labels" data-live>${renderLabels(labels)}</p>
      <p id="summary" class="summary" role="status" data-live>${renderCondition(status)}</p>`,
    main: html`<div id="code" data-live>
      ${errorHelp === undefined ? '' : html`<p class="error-help ${condition}">${errorHelp}</p>`}
      ${renderPlots(status, history, nowMs)} ${renderPollingFacts(status, polling, configurationFile, nowMs)}
      ${breakdown === undefined ? html`<p>No recent listing.</p>` : renderBreakdown(breakdown, nowMs)}
      ${renderRecentPolls(history, lastPollMs, nowMs)}
    </div>`,
  });
}

function renderPlots(
  { totals, condition, lastPollMs }: ServiceCodeStatus,
  history: readonly PollHistoryEntry[],
  nowMs: number,
): Markup {
  return html`<section aria-labelledby="history">
    <h2 id="history">
      The last ${formatTimeSpan(history[0]?.beforeLatestMs ?? 0)}
      <span class="aside">as of ${formatUtc(nowMs)}</span>
    </h2>
    <dl class="plots${condition === 'down' ? ' outdated' : ''}">
      ${PLOTTED_FIELDS.map(
        (display) =>
          html`<div>
            <dt>${display.title}</dt>
            <dd>
              <span class="value">${display.renderValue(totals?.[display.field])}</span>
              ${renderTimePlot(history, display, lastPollMs)}
            </dd>
          </div> `,
      )}
    </dl>
  </section>`;
}

function renderBreakdown(breakdown: ListingBreakdown, nowMs: number): Markup {
  const note = 'HLS (m3u8) is not metered by the service';
  return html`${renderServerTable(breakdown.servers, nowMs)} ${renderTaskTables(breakdown, nowMs)}
    <div class="breakdown">
      ${renderBarTable('Outputs by format', breakdown.outputsByFormat)}
      ${renderBarTable('Connections by format', breakdown.connectionsByFormat, note)}
      ${renderBarTable('Users by client version', breakdown.usersByClientVersion)}
      ${renderBarTable('Users by device type', breakdown.usersByDeviceType)}
      ${renderBarTable('Inputs by protocol', breakdown.inputsByProtocol)}
    </div>`;
}
