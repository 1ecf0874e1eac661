import { HISTORY_CAPACITY } from '../../poller/poll-history.ts';
import { formatShard } from '../../sharding/shard.ts';
import type { ServiceCodeStatus } from '../exporter-facade.ts';
import {
  CONDITIONS,
  findProblems,
  findWorstIcon,
  formatCondition,
  formatSummary,
  rankSeverity,
  renderCondition,
  renderProblem,
} from './conditions.ts';
import { renderDocument, renderLabels, renderLinks, type PageContext } from './document.ts';
import { formatUtc, renderAge } from './human-units.ts';
import {
  DEFAULT_QUERY,
  formatListUrl,
  formatServiceCodePath,
  ORDERS,
  queryRows,
  type ListQuery,
  type ListResults,
  type Order,
} from './page-urls.ts';
import { html, renderName, type Markup } from './markup.ts';
import { hasValues, PLOTTED_FIELDS, renderPlot } from './plot.ts';

export interface ListPageProps extends PageContext {
  readonly isReady: boolean;
  readonly query: ListQuery;
  readonly rows: readonly ServiceCodeStatus[];
}

/** The page at `/`: the service codes that match the query. */
export function renderListPage({ isReady, query, rows, ...context }: ListPageProps): string {
  const { shard } = context.process;
  const results = queryRows(rows, query);
  const summary = formatSummary(rows) + (shard.count === 1 ? '' : ` (${formatShard(shard)})`);
  return renderDocument({
    ...context,
    title: `${summary} · xvs-exporter`,
    icon: findWorstIcon(rows),
    isLive: true,
    header: html`<h1>xvs-exporter</h1>
      ${renderFilterForm(query)}`,
    summary: `${summary}${isReady ? '' : '; first polls in progress'}`,
    main: html`${renderTable(results, query, rows.length, context)}
    ${results.rows.length === 0 ? renderEmptyList(rows.length) : ''} ${renderPagination(results, query)}`,
  });
}

/** The form that filters and sorts the list; its fields are the parameters of {@link ListQuery}. */
function renderFilterForm(query: ListQuery): Markup {
  const renderOption = (value: string, text: string, isSelected: boolean): Markup =>
    html`<option value="${value}" ${isSelected ? html` selected` : ''}>${text}</option>`;
  return html`<form method="get" action="/" role="search" autocomplete="off">
    <label
      >Service code or label
      <input
        type="search"
        id="filter"
        name="q"
        maxlength="128"
        value="${query.filter}"
        autocapitalize="off"
        spellcheck="false"
    /></label>
    <label
      >State
      <select name="state">
        <option value="">any</option>
        ${CONDITIONS.map((value) => renderOption(value, formatCondition(value), value === query.condition))}
      </select></label
    >
    <label
      >Order
      <select name="sort">
        ${ORDERS.map((order) =>
          renderOption(order === DEFAULT_QUERY.order ? '' : order.name, order.text, order === query.order),
        )}
      </select></label
    >
    <button type="submit">Show</button>
  </form>`;
}

/**
 * The table of service codes. Narrow windows show each row as a block (`display: block`), which removes the table
 * semantics in some browsers; the ARIA roles restore them.
 */
function renderTable(
  results: ListResults,
  query: ListQuery,
  totalCount: number,
  context: PageContext,
): Markup {
  return html`<table role="table" class="list wide">
    <caption>
      ${renderCaption(results, totalCount, context.process.nowMs)}
    </caption>
    <thead role="rowgroup">
      <tr role="row">
        ${ORDERS.map((order) => renderColumnHeading(order, query))}
      </tr>
    </thead>
    ${results.rows.map((row) => renderRowGroup(row, context))}
  </table>`;
}

function renderCaption({ firstPosition, rows, matchingCount }: ListResults, total: number, nowMs: number) {
  const count = matchingCount === total ? `${total}` : `${matchingCount} of ${total} match`;
  const range =
    rows.length === matchingCount ? '' : `${firstPosition} to ${firstPosition + rows.length - 1} of `;
  return html`Service codes: ${range}${count}. As of
    <time datetime="${new Date(nowMs).toISOString()}">${formatUtc(nowMs)}</time>; times are in UTC. Plots show
    the last ${HISTORY_CAPACITY} polls from zero; gaps and red ticks mark failed polls.`;
}

/** A column heading whose link sorts by the column. */
function renderColumnHeading(order: Order, query: ListQuery): Markup {
  const { name, title, isDescending } = order;
  const isCurrent = query.order === order;
  const arrow = isCurrent ? html` <span aria-hidden="true">${isDescending ? '▾' : '▴'}</span>` : '';
  const ariaSort = isCurrent ? html` aria-sort="${isDescending ? 'descending' : 'ascending'}"` : '';
  const alignment = name === 'code' || name === 'state' ? '' : html` class="number"`;
  return html`<th role="columnheader" scope="col" ${alignment}${ariaSort}>
    <a id="by-${name}" href="${formatListUrl({ ...query, order, page: 1 })}">${title}${arrow}</a>
  </th>`;
}

/** The row of a service code, and a second row with its problem unless it is up. */
function renderRowGroup(row: ServiceCodeStatus, { process }: PageContext): Markup {
  const { nowMs } = process;
  const { serviceCode, labels, condition, totals, lastSuccessMs } = row;
  const id = encodeURIComponent(serviceCode.toWellFormed());
  const [problem] = condition === 'up' && rankSeverity(row) >= 0 ? [] : findProblems(row, nowMs);
  const isOutdated = condition === 'down' && totals !== undefined;
  return html`<tbody role="rowgroup" class="${condition}${isOutdated ? ' outdated' : ''}">
    <tr role="row">
      <th role="rowheader" scope="row">
        <a id="code-${id}" href="${formatServiceCodePath(serviceCode)}">${renderName(serviceCode)}</a>
        ${renderLabels(labels)}
      </th>
      <td role="cell" class="condition">${renderCondition(row, nowMs)}</td>
      ${renderValues(row)}
      <td role="cell" class="number" data-label="Last success">${renderAge(lastSuccessMs, nowMs)}</td>
    </tr>
    ${
      problem === undefined
        ? ''
        : html`<tr role="row" class="problem">
            <td role="cell" colspan="${ORDERS.length}">
              ${renderProblem(problem, (alert) => renderLinks(process, serviceCode, alert))}
            </td>
          </tr> `
    }
  </tbody> `;
}

/** The numbers with their plots; without any, one line. */
function renderValues({ totals, condition, history, lastPollMs = 0 }: ServiceCodeStatus): Markup | Markup[] {
  const entries = history.entries();
  if (totals === undefined && !hasValues(entries)) {
    const text = condition === 'waiting' ? 'The first poll is in progress.' : 'No recent poll succeeded.';
    return html`<td role="cell" class="aside" colspan="${PLOTTED_FIELDS.length}">${text}</td>`;
  }
  return PLOTTED_FIELDS.map(
    (display) =>
      html`<td role="cell" class="number plot-cell" data-label="${display.title}">
        <span class="value">${display.renderValue(totals?.[display.field])}</span>
        ${hasValues(entries) ? renderPlot(entries, display, lastPollMs, 'small') : ''}
      </td>`,
  );
}

function renderEmptyList(totalCount: number): Markup {
  if (totalCount === 0) return html`<p>This exporter polls no service codes.</p>`;
  return html`<p>No service code matches. <a id="all" href="/">Show all</a></p>`;
}

function renderPagination({ page, pageCount }: ListResults, query: ListQuery): Markup | undefined {
  if (pageCount === 1) return undefined;
  const renderLink = (target: number, text: string): Markup =>
    target < 1 || target > pageCount
      ? html`<span>${text}</span>`
      : html`<a id="page-${text}" href="${formatListUrl({ ...query, page: target })}">${text}</a>`;
  return html`<nav class="paging" aria-label="Pages">
    ${renderLink(page - 1, 'Previous')}
    <span aria-current="page">Page ${page} of ${pageCount}</span>
    ${renderLink(page + 1, 'Next')}
  </nav>`;
}
