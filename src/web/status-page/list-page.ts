import { HISTORY_CAPACITY } from '../../poller/poll-history.ts';
import { formatShard } from '../../sharding/shard.ts';
import type { ServiceCodeStatus } from '../exporter-facade.ts';
import { formatSummary } from './conditions.ts';
import { renderDocument, type PageContext } from './document.ts';
import { findWorstIcon } from './favicon.ts';
import { renderFilterForm } from './filter-form.ts';
import { formatClockTime, formatUtc } from './human-units.ts';
import { formatListUrl, type ListQuery } from './list-query.ts';
import { queryRows, type ListResults } from './list-results.ts';
import { renderListTable } from './list-table.ts';
import { html, type Markup } from './markup.ts';

export interface ListPageProps extends PageContext {
  readonly isReady: boolean;
  readonly query: ListQuery;
  readonly rows: readonly ServiceCodeStatus[];
}

/** The page at `/`: the service codes that match the query. */
export function renderListPage({ isReady, query, rows, ...context }: ListPageProps): string {
  const { nowMs, process } = context;
  const { shard } = process;
  const results = queryRows(rows, query);
  const summary = formatSummary(rows) + (shard.count === 1 ? '' : ` (${formatShard(shard)})`);
  return renderDocument({
    ...context,
    title: `${summary} · xvs-exporter`,
    icon: findWorstIcon(rows),
    isLive: true,
    header: html`<h1>xvs-exporter</h1>
      <p id="summary" class="summary" role="status" data-live>
        ${summary}${isReady ? '' : '; first polls in progress'}
      </p>`,
    main: html`${renderFilterForm(query)}
      <div id="list" data-live>
        ${renderListTable(results, query, nowMs, renderCaption(results, rows.length, nowMs))}
        ${results.rows.length === 0 ? renderEmptyList(rows.length) : ''} ${renderPagination(results, query)}
      </div>`,
  });
}

function renderCaption(
  { firstPosition, rows, matchingCount }: ListResults,
  totalCount: number,
  nowMs: number,
): Markup {
  const count = matchingCount === totalCount ? `${totalCount}` : `${matchingCount} of ${totalCount} match`;
  const range =
    rows.length === matchingCount ? '' : `${firstPosition} to ${firstPosition + rows.length - 1} of `;
  return html`Service codes: ${range}${count}. As of
    <time datetime="${new Date(nowMs).toISOString()}">${formatUtc(nowMs)}</time>. Plots show the last
    ${HISTORY_CAPACITY} polls${formatPlottedTimes(rows)} from zero; gaps and red ticks mark failed polls.`;
}

/** ` (02:49:05 to 03:04:05 UTC)`, from the first to the last poll of any of the rows; empty without polls. */
function formatPlottedTimes(rows: readonly ServiceCodeStatus[]): string {
  const times = rows.flatMap(({ lastPollMs, history }) => {
    const [first] = history.entries();
    return lastPollMs === undefined || first === undefined
      ? []
      : [lastPollMs - first.beforeLatestMs, lastPollMs];
  });
  if (times.length === 0) return '';
  return ` (${formatClockTime(Math.min(...times))} to ${formatClockTime(Math.max(...times))} UTC)`;
}

function renderEmptyList(totalCount: number): Markup {
  if (totalCount === 0) return html`<p>This exporter polls no service codes.</p>`;
  return html`<p>No service code matches. <a href="/">Show all</a></p>`;
}

function renderPagination({ page, pageCount }: ListResults, query: ListQuery): Markup | undefined {
  if (pageCount === 1) return undefined;
  const renderLink = (target: number, id: string, text: string): Markup =>
    target < 1 || target > pageCount || target === page
      ? html`<span>${text}</span>`
      : html`<a id="${id}" href="${formatListUrl({ ...query, page: target })}">${text}</a>`;
  return html`<nav class="paging" aria-label="Pages">
    ${renderLink(1, 'first', 'First')} ${renderLink(page - 1, 'previous', 'Previous')}
    <span aria-current="page">Page ${page} of ${pageCount}</span>
    ${renderLink(page + 1, 'next', 'Next')} ${renderLink(pageCount, 'last', 'Last')}
  </nav>`;
}
