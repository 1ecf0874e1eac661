import { HISTORY_CAPACITY } from '../../poller/poll-history.ts';
import { formatShard } from '../../sharding/shard.ts';
import type { ExporterFacade, ProcessStatus, ServiceCodeStatus } from '../exporter-facade.ts';
import {
  findProblems,
  formatCondition,
  formatSummary,
  hasMissing,
  rankSeverity,
  renderCondition,
  renderLastExpected,
  renderProblem,
} from './conditions.ts';
import { renderDocument, renderLabels } from './document.ts';
import { formatUtc, renderAge, renderKnown } from './human-units.ts';
import { html, renderName, type Markup } from './markup.ts';
import { hasValues, PLOTTED_FIELDS, renderPlot } from './plot.ts';
import { formatServiceCodePath } from './service-code-page.ts';

const PAGE_SIZE = 50;
const MAX_FILTER_CHARACTERS = 128;
const TITLES = ['Service code', 'State', ...PLOTTED_FIELDS.map(({ title }) => title), 'Last success'];

/** The filter and the page of the list. */
export interface ListQuery {
  /** Part of a service code, of a label (`tenant=acme`) or of a state, ignoring case; '' matches all. */
  readonly filter: string;
  /** Counts from 1. */
  readonly page: number;
}

/** Parses the parameters of a URL. Invalid ones are ignored, so that old links still work. */
export function parseListQuery(query: URLSearchParams): ListQuery {
  const page = query.get('page') ?? '';
  const filter = Array.from(query.get('q')?.trim() ?? '');
  return {
    filter: filter.slice(0, MAX_FILTER_CHARACTERS).join(''),
    // Strict: zod's coercion would accept `1e3`.
    page: /^[1-9]\d{0,6}$/.test(page) ? Number(page) : 1,
  };
}

/** The page at `/`: the service codes that match the query, the most severe state first. */
export function renderListPage(facade: ExporterFacade, parameters: URLSearchParams): string {
  const process = facade.getProcess();
  const { shard } = process;
  const query = parseListQuery(parameters);
  const rows = facade.getStatuses();
  const matching = rows.filter((row) => isMatch(row, query.filter)).toSorted(compareSeverity);
  const pageCount = Math.max(1, Math.ceil(matching.length / PAGE_SIZE));
  const page = Math.min(query.page, pageCount);
  const start = (page - 1) * PAGE_SIZE;
  const shown = matching.slice(start, start + PAGE_SIZE);
  const count =
    matching.length === rows.length ? `${rows.length}` : `${matching.length} of ${rows.length} match`;
  const range = pageCount === 1 ? '' : `${start + 1} to ${start + shown.length} of `;
  const summary = formatSummary(rows) + (shard.count === 1 ? '' : ` (${formatShard(shard)})`);
  return renderDocument(process, {
    root: './',
    title: summary,
    isLive: true,
    header: html`<h1>xvs-exporter</h1>
      ${renderFilterForm(query)}`,
    summary: `${summary}${facade.isReady() ? '' : '; first polls in progress'}`,
    main: html`${renderTable(shown, range + count, process)}
    ${shown.length === 0 ? renderEmptyList(rows.length) : ''} ${renderPagination(page, pageCount, query)}`,
  });
}

function isMatch({ serviceCode, labels, condition }: ServiceCodeStatus, filter: string): boolean {
  const needle = filter.toLowerCase();
  const ofLabels = Object.entries(labels).map(([label, value]) => `${label}=${value}`);
  const texts = [serviceCode, formatCondition(condition), ...ofLabels];
  return texts.some((text) => text.toLowerCase().includes(needle));
}

/** Ties are sorted by service code. */
function compareSeverity(a: ServiceCodeStatus, b: ServiceCodeStatus): number {
  return rankSeverity(a) - rankSeverity(b) || (a.serviceCode < b.serviceCode ? -1 : 1);
}

function renderFilterForm({ filter }: ListQuery): Markup {
  return html`<form method="get" action="./" role="search" autocomplete="off">
    <label
      >Service code, label or state
      <input
        type="search"
        id="filter"
        name="q"
        maxlength="${MAX_FILTER_CHARACTERS}"
        value="${filter}"
        autocapitalize="off"
        spellcheck="false"
    /></label>
    <button type="submit">Show</button>
  </form>`;
}

/**
 * The table of service codes. Narrow windows show each row as a block (`display: block`), which removes the table
 * semantics in some browsers; the ARIA roles restore them.
 */
function renderTable(rows: readonly ServiceCodeStatus[], count: string, process: ProcessStatus): Markup {
  const { nowMs } = process;
  return html`<table role="table" class="list wide">
    <caption>
      Service codes: ${count}. As of
      <time datetime="${new Date(nowMs).toISOString()}">${formatUtc(nowMs)}</time
      >; times are in UTC. Plots show the last ${HISTORY_CAPACITY} polls from zero, half an hour at the
      default interval; gaps and red ticks mark failed polls.
    </caption>
    <thead role="rowgroup">
      <tr role="row">
        ${TITLES.map(
          (title, index) =>
            html`<th role="columnheader" scope="col" class="${index < 2 ? 'text' : 'number'}">${title}</th>`,
        )}
      </tr>
    </thead>
    ${rows.map((row) => renderRowGroup(row, process))}
  </table>`;
}

/** The row of a service code, and a second row with its problem unless it is up. */
function renderRowGroup(row: ServiceCodeStatus, process: ProcessStatus): Markup {
  const { nowMs } = process;
  const { serviceCode, labels, condition, totals, lastSuccessMs } = row;
  const id = encodeURIComponent(serviceCode.toWellFormed());
  const [problem] = condition === 'up' && !hasMissing(row) ? [] : findProblems(row, nowMs);
  const isOutdated = condition === 'down' && totals !== undefined;
  const classes = [
    condition,
    ...(isOutdated ? ['outdated'] : []),
    // As severe as a service code that is down.
    ...(hasMissing(row) ? ['missing'] : []),
  ];
  return html`<tbody role="rowgroup" class="${classes.join(' ')}">
    <tr role="row">
      <th role="rowheader" scope="row">
        <a id="code-${id}" href=".${formatServiceCodePath(serviceCode)}">${renderName(serviceCode)}</a>
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
            <td role="cell" colspan="${TITLES.length}">
              ${renderProblem(problem, process, serviceCode)} ${renderLastExpected(row, nowMs)}
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
      html`<td role="cell" class="number" data-label="${display.title}">
        <span class="value">${renderKnown(totals?.[display.field], display.format)}</span>
        ${hasValues(entries) ? renderPlot(entries, display, lastPollMs, 'small') : ''}
      </td>`,
  );
}

function renderEmptyList(totalCount: number): Markup {
  if (totalCount === 0) return html`<p>This exporter polls no service codes.</p>`;
  return html`<p>No service code matches. <a id="all" href="./">Show all</a></p>`;
}

function renderPagination(page: number, pageCount: number, { filter }: ListQuery): Markup | undefined {
  if (pageCount === 1) return undefined;
  const renderLink = (target: number, text: string): Markup => {
    if (target < 1 || target > pageCount) return html`<span>${text}</span>`;
    const parameters = new URLSearchParams({ ...(filter !== '' && { q: filter }), page: String(target) });
    return html`<a id="page-${text}" href="./?${parameters.toString()}">${text}</a>`;
  };
  return html`<nav class="paging" aria-label="Pages">
    ${renderLink(page - 1, 'Previous')}
    <span aria-current="page">Page ${page} of ${pageCount}</span>
    ${renderLink(page + 1, 'Next')}
  </nav>`;
}
