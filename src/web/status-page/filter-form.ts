import { CONDITIONS, formatCondition } from './conditions.ts';
import {
  DEFAULT_QUERY,
  isDescendingByDefault,
  ORDERS,
  PAGE_SIZES,
  formatSortParameter,
  type ListQuery,
  type Order,
} from './list-query.ts';
import { html, type Markup } from './markup.ts';

const ORDER_TEXTS: Readonly<Record<Order, string>> = {
  state: 'State, worst first',
  code: 'Service code',
  users: 'Users, most first',
  tasks: 'Tasks, most first',
  ingress: 'Ingress, most first',
  egress: 'Egress, most first',
  connections: 'Connections, most first',
  success: 'Last success, oldest first',
  duration: 'Poll duration, longest first',
};

/**
 * The form that filters and sorts the list; its fields are the parameters of {@link ListQuery}. Narrow windows fold it,
 * unless a filter is set; wide ones show it always.
 */
export function renderFilterForm(query: ListQuery): Markup {
  const isFiltered = query.filter !== '' || query.condition !== undefined;
  return html`<details class="filter" ${isFiltered ? html` open` : ''}>
    <summary>Filter and order</summary>
    ${renderForm(query)}
  </details>`;
}

function renderForm(query: ListQuery): Markup {
  const states = CONDITIONS.map((condition) =>
    renderOption(condition, formatCondition(condition), condition === query.condition),
  );
  return html`<form method="get" action="/" role="search" autocomplete="off">
    <label
      >Service code
      <input
        type="search"
        id="filter"
        name="q"
        maxlength="128"
        value="${query.filter}"
        placeholder="code or label contains…"
        autocapitalize="off"
        spellcheck="false"
    /></label>
    <label
      >State
      <select name="state">
        <option value="">any</option>
        ${states}
      </select></label
    >
    <label
      >Order
      <select name="sort">
        ${renderOrderOptions(query)}
      </select></label
    >
    <label
      >Rows
      <select name="per_page">
        ${renderPageSizeOptions(query)}
      </select></label
    >
    <button type="submit">Show</button>
  </form>`;
}

function renderOption(value: string, text: string, isSelected: boolean): Markup {
  return html`<option value="${value}" ${isSelected ? html` selected` : ''}>${text}</option>`;
}

/** Each order in its default direction, and the current one if it is reversed. The default has an empty value. */
function renderOrderOptions(query: ListQuery): readonly Markup[] {
  const current = formatSortParameter(query);
  const options = ORDERS.map((order) =>
    renderOption(order === DEFAULT_QUERY.order ? '' : order, ORDER_TEXTS[order], order === current),
  );
  if (query.isDescending === isDescendingByDefault(query.order)) return options;
  return [...options, renderOption(current, `${ORDER_TEXTS[query.order]}, reversed`, true)];
}

function renderPageSizeOptions({ pageSize }: ListQuery): readonly Markup[] {
  return PAGE_SIZES.map((size) =>
    renderOption(size === DEFAULT_QUERY.pageSize ? '' : String(size), String(size), size === pageSize),
  );
}
