import { nameOf, type Shard } from '../../sharding/shard.ts';
import type { ServiceCodeStatus } from '../view.ts';
import { arrange, type Arrangement } from './arrangement.ts';
import { summaryOf } from './conditions.ts';
import { renderDocument } from './document.ts';
import { filterForm } from './filter-form.ts';
import { utc } from './human-units.ts';
import { listAddress, type ListQuery } from './list-query.ts';
import { listTable } from './list-table.ts';
import { html, type Markup } from './markup.ts';

export interface ListPage {
  readonly version: string;
  readonly telemetryPath: string;
  readonly shard: Shard;
  readonly isReady: boolean;
  readonly nowMs: number;
  readonly query: ListQuery;
  readonly rows: readonly ServiceCodeStatus[];
}

/** The page at `/`: a row for each service code that the query asks for. */
export function renderListPage({
  version,
  telemetryPath,
  shard,
  isReady,
  nowMs,
  query,
  rows,
}: ListPage): string {
  const part = arrange(rows, query);
  const summary = summaryOf(rows) + (shard.count === 1 ? '' : ` (${nameOf(shard)})`);
  return renderDocument({
    title: `${summary} · xvs-exporter`,
    version,
    telemetryPath,
    header: html`<h1>xvs-exporter</h1>
      <p id="summary" class="summary" role="status" data-live>
        ${summary}${isReady ? '' : '; the first round of polls is not over'}
      </p>`,
    main: html`${filterForm(query)}
      <div id="list" data-live>
        ${listTable(part, query, nowMs, captionOf(part, rows.length, nowMs))}
        ${part.rows.length === 0 ? nothing(rows.length) : ''} ${paging(part, query)}
      </div>`,
  });
}

function captionOf({ first, rows, matching }: Arrangement, all: number, nowMs: number): Markup {
  const of = matching === all ? `${all}` : `${matching} that match, of ${all}`;
  const range = rows.length === matching ? '' : `${first} to ${first + rows.length - 1} of `;
  return html`Service codes: ${range}${of}. As of
    <time datetime="${new Date(nowMs).toISOString()}">${utc(nowMs)}</time>. Plots: the last 60 polls, from
    zero up; gaps and red ticks are polls that failed.`;
}

function nothing(all: number): Markup {
  if (all === 0) return html`<p class="nothing">No service code is polled here by now.</p>`;
  return html`<p class="nothing">No service code matches. <a href="/">Show all</a></p>`;
}

function paging({ page, pages }: Arrangement, query: ListQuery): Markup | undefined {
  if (pages === 1) return undefined;
  const link = (to: number, id: string, text: string): Markup =>
    to < 1 || to > pages || to === page
      ? html`<span>${text}</span>`
      : html`<a id="${id}" href="${listAddress({ ...query, page: to })}">${text}</a>`;
  return html`<nav class="paging" aria-label="Pages">
    ${link(1, 'first', 'First')} ${link(page - 1, 'previous', 'Previous')}
    <span aria-current="page">Page ${page} of ${pages}</span> ${link(page + 1, 'next', 'Next')}
    ${link(pages, 'last', 'Last')}
  </nav>`;
}
