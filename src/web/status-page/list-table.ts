import type { PollPoint } from '../../poller/poll-history.ts';
import type { ServiceCodeStatus } from '../view.ts';
import type { Arrangement } from './arrangement.ts';
import { codeAddress } from './code-address.ts';
import { conditionMark } from './conditions.ts';
import { ago, bitRate, count, shortDuration } from './human-units.ts';
import { labelList } from './label-list.ts';
import { isDescendingAtFirst, listAddress, type ListQuery, type Order } from './list-query.ts';
import { html, name, type Markup } from './markup.ts';
import { plot, type PlottedFigure } from './plot.ts';
import { trouble } from './trouble.ts';

interface Column {
  readonly order: Order;
  readonly title: string;
  readonly isNumber?: boolean;
}

const COLUMNS: readonly Column[] = [
  { order: 'code', title: 'Service code' },
  { order: 'state', title: 'State' },
  { order: 'users', title: 'Users', isNumber: true },
  { order: 'tasks', title: 'Tasks', isNumber: true },
  { order: 'ingress', title: 'Ingress', isNumber: true },
  { order: 'egress', title: 'Egress', isNumber: true },
  { order: 'connections', title: 'Connections', isNumber: true },
  { order: 'success', title: 'Last success', isNumber: true },
  { order: 'duration', title: 'Poll time', isNumber: true },
];

/**
 * The table of service codes. On a telephone its style makes a block of each row, which takes the meaning of a table
 * from some browsers: the roles give it back.
 */
export function listTable(part: Arrangement, query: ListQuery, nowMs: number, caption: Markup): Markup {
  return html`<table role="table" class="list">
    <caption>
      ${caption}
    </caption>
    <thead role="rowgroup">
      <tr role="row">
        ${COLUMNS.map((column) => heading(column, query))}
      </tr>
    </thead>
    ${part.rows.map((row) => rowsOf(row, nowMs))}
  </table>`;
}

/** A link that orders by the column; that of the column which is in order turns the direction. */
function heading({ order, title, isNumber = false }: Column, query: ListQuery): Markup {
  const isCurrent = query.order === order;
  const isDescending = isCurrent ? !query.isDescending : isDescendingAtFirst(order);
  const address = listAddress({ ...query, order, isDescending, page: 1 });
  const arrow = isCurrent ? html` <span aria-hidden="true">${query.isDescending ? '▾' : '▴'}</span>` : '';
  const sorted = isCurrent ? html` aria-sort="${query.isDescending ? 'descending' : 'ascending'}"` : '';
  const side = isNumber ? html` class="number"` : '';
  return html`<th role="columnheader" scope="col" ${side}${sorted}>
    <a id="by-${order}" href="${address}">${title}${arrow}</a>
  </th>`;
}

/** A service code's row and, where something is wrong, one that tells what: a group of their own. */
function rowsOf(row: ServiceCodeStatus, nowMs: number): Markup {
  const { serviceCode, labels, condition, figures, history } = row;
  const points = history.points();
  const what = trouble(row, nowMs);
  const isOld = condition === 'down' && figures !== undefined;
  const id = encodeURIComponent(serviceCode.toWellFormed());
  return html`<tbody role="rowgroup" class="${condition}${isOld ? ' old' : ''}">
    <tr role="row">
      <th role="rowheader" scope="row">
        <a id="code-${id}" href="${codeAddress(serviceCode)}">${name(serviceCode)}</a>
        ${labelList(labels)}
      </th>
      <td role="cell" class="condition">${conditionMark(row)}</td>
      ${[
        cell('Users', count(figures?.users), points, 'users'),
        cell('Tasks', count(figures?.tasks), points, 'tasks'),
        cell('Ingress', bitRate(figures?.ingress), points, 'ingress'),
        cell('Egress', bitRate(figures?.egress), points, 'egress'),
        cell('Connections', count(figures?.connections), points, 'connections'),
      ]}
      <td role="cell" class="number" data-label="Last success">${ago(row.lastSuccessMs, nowMs)}</td>
      <td role="cell" class="number" data-label="Poll time">${shortDuration(history.latestDurationMs)}</td>
    </tr>
    ${
      what === undefined
        ? ''
        : html`<tr role="row" class="trouble">
            <td role="cell" colspan="${COLUMNS.length}">${what}</td>
          </tr> `
    }
  </tbody> `;
}

function cell(label: string, value: Markup, points: readonly PollPoint[], figure: PlottedFigure): Markup {
  return html`<td role="cell" class="number" data-label="${label}">
    <span class="figure">${plot(points, figure)}<span class="value">${value}</span></span>
  </td>`;
}
