import { HISTORY_CAPACITY, type PollHistoryEntry } from '../../poller/poll-history.ts';
import { formatShard } from '../../sharding/shard.ts';
import type { ExporterFacade, ProcessStatus } from '../exporter-facade.ts';
import { examine, listMarks, listProblems, type ExaminedCode } from './code-problems.ts';
import {
  formatCondition,
  formatSummary,
  renderCondition,
  renderFailureNote,
  renderLastExpected,
} from './conditions.ts';
import { renderDocument, renderLabels } from './document.ts';
import { formatUtc, renderAge } from './human-units.ts';
import { html, renderName, type Markup } from './markup.ts';
import { PLOTTED_FIELDS, renderPlotted } from './plot.ts';
import {
  encodeServiceCode,
  findProcessProblems,
  isCritical,
  rankSeverity,
  renderProblem,
  type PageProblem,
} from './problems.ts';
import { renderTable, type TableColumn } from './table.ts';

const PAGE_SIZE = 50;
const MAX_FILTER_CHARACTERS = 128;

/** Parses the filter and the page of a URL. Invalid ones are ignored, so that old links still work. */
export function parseListQuery(query: URLSearchParams) {
  const page = query.get('page') ?? '';
  return {
    /**
     * Part of a service code, a label (`tenant=acme`), an expected name, a state or a mark, ignoring case.
     */
    filter: Array.from(query.get('q')?.trim() ?? '')
      .slice(0, MAX_FILTER_CHARACTERS)
      .join(''),
    /** Counts from 1. Strict: zod's coercion would accept `1e3`. */
    page: /^[1-9]\d{0,6}$/.test(page) ? Number(page) : 1,
  };
}

export function renderListPage(facade: ExporterFacade, query: URLSearchParams): string {
  const process = facade.getProcess();
  const { shard, nowMs } = process;
  const { filter, page: wantedPage } = parseListQuery(query);
  const rows = facade.getStatuses().map((status) => {
    const examined = examine(status, nowMs);
    const [worst] = listProblems(examined);
    return { ...examined, worst, rank: rankSeverity(worst) };
  });
  const matching = rows.filter((row) => isMatch(row, filter));
  const sorted = matching.toSorted(
    (a, b) => a.rank - b.rank || (a.status.serviceCode < b.status.serviceCode ? -1 : 1),
  );
  const pageCount = Math.max(1, Math.ceil(matching.length / PAGE_SIZE));
  const page = Math.min(wantedPage, pageCount);
  const start = (page - 1) * PAGE_SIZE;
  const shown = sorted.slice(start, start + PAGE_SIZE);
  const count =
    matching.length === rows.length ? `${rows.length}` : `${matching.length} of ${rows.length} match`;
  const range = pageCount === 1 ? '' : `${start + 1} to ${start + shown.length} of `;
  const ofProcess = Array.from(findProcessProblems(process), ({ headline }) => `; ${headline}`);
  const summary =
    formatSummary(rows) + ofProcess.join('') + (shard.count === 1 ? '' : ` (${formatShard(shard)})`);
  return renderDocument(process, {
    root: './',
    title: summary,
    header: html`<h1>xvs-exporter</h1>
      ${renderFilterForm(filter)}`,
    summary: `${summary}${facade.isReady() ? '' : '; first polls in progress'}`,
    main: html`${renderList(shown, range + count, process)}
    ${shown.length === 0 ? renderEmptyList(rows.length) : ''} ${renderPagination(page, pageCount, filter)}`,
  });
}

function isMatch(row: ExaminedCode, filter: string): boolean {
  if (filter === '') return true;
  const { serviceCode, labels, condition, expectedTasks } = row.status;
  const needle = filter.toLowerCase();
  const texts = [
    serviceCode,
    ...Object.entries(labels).map(([label, value]) => `${label}=${value}`),
    formatCondition(condition),
    ...listMarks(row),
    ...expectedTasks.map(({ name }) => name),
  ];
  return texts.some((text) => text.toLowerCase().includes(needle));
}

function renderFilterForm(filter: string): Markup {
  return html`<form method="get" action="./" role="search" autocomplete="off">
    <label
      >Service code, label, stream or state
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

interface ListRow extends ExaminedCode {
  readonly worst: PageProblem | undefined;
}

interface ShownRow extends ListRow {
  readonly history: readonly PollHistoryEntry[];
}

function renderList(codes: readonly ListRow[], count: string, process: ProcessStatus): Markup {
  const { nowMs } = process;
  const columns: readonly TableColumn<ShownRow>[] = [
    {
      title: 'Service code',
      className: 'text',
      render: ({ status: { serviceCode, labels } }) => {
        const id = encodeServiceCode(serviceCode);
        return html`<a id="code-${id}" href="./service-codes/?service_code=${id}"
            >${renderName(serviceCode)}</a
          >
          ${renderLabels(labels)}`;
      },
    },
    { title: 'State', className: 'condition', render: (row) => renderCondition(row, nowMs) },
    ...PLOTTED_FIELDS.map((field) => ({
      title: field.title,
      render: ({ status, history }: ShownRow) => renderPlotted(status, history, field),
    })),
    { title: 'Last success', render: ({ status }) => renderAge(status.lastSuccessMs, nowMs) },
  ];
  return renderTable({
    className: 'list wide',
    caption: html`Service codes: ${count}. As of
      <time datetime="${new Date(nowMs).toISOString()}">${formatUtc(nowMs)}</time>; times are in UTC. Plots
      show the last ${HISTORY_CAPACITY} polls from zero, half an hour at the default interval; gaps and red
      ticks mark failed polls.`,
    columns,
    rows: codes.map((code) => ({ ...code, history: code.status.history.entries() })),
    getRowClass: ({ status: { condition }, worst }) =>
      isCritical(worst) ? `${condition} critical` : condition,
    renderNote: ({ status, worst }) => {
      if (worst === undefined || (status.condition === 'up' && !isCritical(worst))) return undefined;
      return html`${renderProblem(worst, process, status.serviceCode, renderFailureNote(status, nowMs))}
      ${renderLastExpected(status, nowMs)}`;
    },
  });
}

function renderEmptyList(totalCount: number): Markup {
  if (totalCount === 0) return html`<p>This exporter polls no service codes.</p>`;
  return html`<p>No service code matches. <a id="all" href="./">Show all</a></p>`;
}

function renderPagination(page: number, pageCount: number, filter: string): Markup | undefined {
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
