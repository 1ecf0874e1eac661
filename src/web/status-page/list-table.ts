import type { ServiceCodeStatus } from '../exporter-facade.ts';
import type { ListResults } from './list-results.ts';
import { formatServiceCodePath } from './service-code-path.ts';
import { renderCondition } from './conditions.ts';
import { renderAge, renderDuration } from './human-units.ts';
import { renderLabels } from './label-list.ts';
import { isDescendingByDefault, formatListUrl, type ListQuery, type Order } from './list-query.ts';
import { html, renderName, type Markup } from './markup.ts';
import { PLOTTED_FIELDS } from './plotted-fields.ts';
import { renderSparkline } from './sparkline.ts';
import { renderErrorHelp } from './error-help.ts';

interface Column {
  readonly order: Order;
  readonly title: string;
  readonly isNumber?: boolean;
}

const COLUMNS: readonly Column[] = [
  { order: 'code', title: 'Service code' },
  { order: 'state', title: 'State' },
  ...PLOTTED_FIELDS.map(({ field, title }) => ({ order: field, title, isNumber: true })),
  { order: 'success', title: 'Last success', isNumber: true },
  { order: 'duration', title: 'Poll duration', isNumber: true },
];

/**
 * The table of service codes. Narrow windows show each row as a block (`display: block`), which removes the table
 * semantics in some browsers; the ARIA roles restore them.
 */
export function renderListTable(
  results: ListResults,
  query: ListQuery,
  nowMs: number,
  caption: Markup,
): Markup {
  return html`<table role="table" class="list">
    <caption>
      ${caption}
    </caption>
    <thead role="rowgroup">
      <tr role="row">
        ${COLUMNS.map((column) => renderColumnHeading(column, query))}
      </tr>
    </thead>
    ${results.rows.map((row) => renderRowGroup(row, nowMs))}
  </table>`;
}

/** A column heading whose link sorts by the column, or reverses the order if it is sorted already. */
function renderColumnHeading({ order, title, isNumber = false }: Column, query: ListQuery): Markup {
  const isCurrent = query.order === order;
  const isDescending = isCurrent ? !query.isDescending : isDescendingByDefault(order);
  const url = formatListUrl({ ...query, order, isDescending, page: 1 });
  const arrow = isCurrent ? html` <span aria-hidden="true">${query.isDescending ? '▾' : '▴'}</span>` : '';
  const ariaSort = isCurrent ? html` aria-sort="${query.isDescending ? 'descending' : 'ascending'}"` : '';
  const alignment = isNumber ? html` class="number"` : '';
  return html`<th role="columnheader" scope="col" ${alignment}${ariaSort}>
    <a id="by-${order}" href="${url}">${title}${arrow}</a>
  </th>`;
}

/** The row of a service code, and a second row with help if it has a problem. */
function renderRowGroup(row: ServiceCodeStatus, nowMs: number): Markup {
  const { serviceCode, labels, condition, totals, history, lastPollMs } = row;
  const entries = history.entries();
  const errorHelp = renderErrorHelp(row, nowMs);
  const isOutdated = condition === 'down' && totals !== undefined;
  const id = encodeURIComponent(serviceCode.toWellFormed());
  return html`<tbody role="rowgroup" class="${condition}${isOutdated ? ' outdated' : ''}">
    <tr role="row">
      <th role="rowheader" scope="row">
        <a id="code-${id}" href="${formatServiceCodePath(serviceCode)}">${renderName(serviceCode)}</a>
        ${renderLabels(labels)}
      </th>
      <td role="cell" class="condition">${renderCondition(row)}</td>
      ${PLOTTED_FIELDS.map(
        (display) =>
          html`<td role="cell" class="number plot-cell" data-label="${display.title}">
            <span class="value">${display.renderValue(totals?.[display.field])}</span>
            ${renderSparkline(entries, display, lastPollMs)}
          </td>`,
      )}
      <td role="cell" class="number" data-label="Last success">${renderAge(row.lastSuccessMs, nowMs)}</td>
      <td role="cell" class="number" data-label="Poll duration">
        ${renderDuration(history.latestDurationMs)}
      </td>
    </tr>
    ${errorHelp === undefined ? '' : renderHelpRow(errorHelp)}
  </tbody> `;
}

function renderHelpRow(errorHelp: Markup): Markup {
  return html`<tr role="row" class="error-help">
    <td role="cell" colspan="${COLUMNS.length}">${errorHelp}</td>
  </tr> `;
}
