import type { ServiceCodeCondition } from '../view.ts';
import { CONDITIONS } from './conditions.ts';

/** By what the list can be ordered. */
export const ORDERS = [
  'state',
  'code',
  'users',
  'tasks',
  'ingress',
  'egress',
  'connections',
  'success',
  'duration',
] as const;

export type Order = (typeof ORDERS)[number];

/** How many rows a page of the list can have. */
export const PAGE_SIZES = [25, 50, 100, 250] as const;

const MAX_FILTER_CHARACTERS = 128;

/** Which service codes are listed, in what order, and which part of them. */
export interface ListQuery {
  /** Part of the service code or of a label (`tenant=acme`), in whatever case; '' for all. */
  readonly filter: string;
  readonly condition: ServiceCodeCondition | undefined;
  readonly order: Order;
  readonly isDescending: boolean;
  /** From 1. */
  readonly page: number;
  readonly pageSize: number;
}

/** What an address without a query means: what is red stands first. */
export const DEFAULT_QUERY: ListQuery = {
  filter: '',
  condition: undefined,
  order: 'state',
  isDescending: false,
  page: 1,
  pageSize: 50,
};

/** Names and states are read from the top, of figures the largest are looked for, and of times the longest ago. */
export function isDescendingAtFirst(order: Order): boolean {
  return order !== 'state' && order !== 'code' && order !== 'success';
}

/** Reads a query. What is not understood is as if it were not there: an old link still shows the page. */
export function parseListQuery(query: URLSearchParams): ListQuery {
  const { order, isDescending } = parseSort(query.get('sort') ?? '');
  return {
    filter: Array.from(query.get('q')?.trim() ?? '')
      .slice(0, MAX_FILTER_CHARACTERS)
      .join(''),
    condition: oneOf(CONDITIONS, query.get('state')),
    order,
    isDescending,
    page: wholeNumber(query.get('page')) ?? DEFAULT_QUERY.page,
    pageSize: PAGE_SIZES.find((size) => String(size) === query.get('per_page')) ?? DEFAULT_QUERY.pageSize,
  };
}

/** The address of a list: what is as usual is left out. */
export function listAddress(query: ListQuery): string {
  const { filter, condition, page, pageSize } = query;
  const parameters = new URLSearchParams();
  if (filter !== '') parameters.set('q', filter);
  if (condition !== undefined) parameters.set('state', condition);
  const sort = sortParameter(query);
  if (sort !== DEFAULT_QUERY.order) parameters.set('sort', sort);
  if (page !== DEFAULT_QUERY.page) parameters.set('page', String(page));
  if (pageSize !== DEFAULT_QUERY.pageSize) parameters.set('per_page', String(pageSize));
  return parameters.size === 0 ? '/' : `/?${parameters.toString()}`;
}

/** An order and its direction, as the address has them: `users`, or `users-asc` where it is not the usual one. */
export function sortParameter({ order, isDescending }: Pick<ListQuery, 'order' | 'isDescending'>): string {
  if (isDescending === isDescendingAtFirst(order)) return order;
  return `${order}-${isDescending ? 'desc' : 'asc'}`;
}

function parseSort(text: string): Pick<ListQuery, 'order' | 'isDescending'> {
  const [, word = '', direction] = /^([a-z]+)(?:-(asc|desc))?$/.exec(text) ?? [];
  const order = oneOf(ORDERS, word);
  if (order === undefined) return DEFAULT_QUERY;
  return { order, isDescending: direction === undefined ? isDescendingAtFirst(order) : direction === 'desc' };
}

function oneOf<T extends string>(values: readonly T[], text: string | null): T | undefined {
  return values.find((value) => value === text);
}

function wholeNumber(text: string | null): number | undefined {
  return text !== null && /^[1-9]\d{0,6}$/.test(text) ? Number(text) : undefined;
}
