import { CONDITIONS, wordOf } from './conditions.ts';
import {
  DEFAULT_QUERY,
  isDescendingAtFirst,
  ORDERS,
  PAGE_SIZES,
  sortParameter,
  type ListQuery,
  type Order,
} from './list-query.ts';
import { html, type Markup } from './markup.ts';

const ORDER_WORDS: Readonly<Record<Order, string>> = {
  state: 'State, worst first',
  code: 'Service code',
  users: 'Users, most first',
  tasks: 'Tasks, most first',
  ingress: 'Ingress, most first',
  egress: 'Egress, most first',
  connections: 'Connections, most first',
  success: 'Last success, oldest first',
  duration: 'Poll time, longest first',
};

/** Narrows and orders the list; its fields are the parameters of the address. */
export function filterForm(query: ListQuery): Markup {
  const states = CONDITIONS.map((condition) =>
    option(condition, wordOf(condition), condition === query.condition),
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
        placeholder="part of it, or of a label"
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
        ${orders(query)}
      </select></label
    >
    <label
      >Rows
      <select name="per_page">
        ${sizes(query)}
      </select></label
    >
    <button type="submit">Show</button>
  </form>`;
}

function option(value: string, text: string, isSelected: boolean): Markup {
  return html`<option value="${value}" ${isSelected ? html` selected` : ''}>${text}</option>`;
}

/** All in their usual direction, and the one that there is, should it be another. What is usual has no value. */
function orders(query: ListQuery): readonly Markup[] {
  const current = sortParameter(query);
  const usual = ORDERS.map((order) =>
    option(order === DEFAULT_QUERY.order ? '' : order, ORDER_WORDS[order], order === current),
  );
  if (query.isDescending === isDescendingAtFirst(query.order)) return usual;
  return [...usual, option(current, `${ORDER_WORDS[query.order]}, reversed`, true)];
}

function sizes({ pageSize }: ListQuery): readonly Markup[] {
  return PAGE_SIZES.map((size) =>
    option(size === DEFAULT_QUERY.pageSize ? '' : String(size), String(size), size === pageSize),
  );
}
