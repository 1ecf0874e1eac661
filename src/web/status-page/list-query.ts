import type { ServiceCodeCondition } from '../exporter-facade.ts';
import { CONDITIONS } from './conditions.ts';

/** The sort orders of the list. */
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

export const PAGE_SIZES = [25, 50, 100, 250] as const;

const MAX_FILTER_CHARACTERS = 128;

/** The filter, the order and the page of the list. */
export interface ListQuery {
  /** Part of a service code or of a label (`tenant=acme`), ignoring case; '' matches all. */
  readonly filter: string;
  readonly condition: ServiceCodeCondition | undefined;
  readonly order: Order;
  readonly isDescending: boolean;
  /** Counts from 1. */
  readonly page: number;
  readonly pageSize: number;
}

/** The list without parameters: the most severe condition first. */
export const DEFAULT_QUERY: ListQuery = {
  filter: '',
  condition: undefined,
  order: 'state',
  isDescending: false,
  page: 1,
  pageSize: 50,
};

/** Names, states and times start at the lowest by default; counts, rates and durations at the highest. */
export function isDescendingByDefault(order: Order): boolean {
  return order !== 'state' && order !== 'code' && order !== 'success';
}

/**
 * Parses the parameters of a URL. Invalid ones are ignored, so that old links still work. Strict patterns: zod's
 * coercion would accept `1e3`.
 */
export function parseListQuery(query: URLSearchParams): ListQuery {
  const { order, isDescending } = parseSort(query.get('sort') ?? '');
  return {
    filter: Array.from(query.get('q')?.trim() ?? '')
      .slice(0, MAX_FILTER_CHARACTERS)
      .join(''),
    condition: findLiteral(CONDITIONS, query.get('state')),
    order,
    isDescending,
    page: parsePositiveInteger(query.get('page')) ?? DEFAULT_QUERY.page,
    pageSize: PAGE_SIZES.find((size) => String(size) === query.get('per_page')) ?? DEFAULT_QUERY.pageSize,
  };
}

/** The URL of a list, without the parameters that have their default. */
export function formatListUrl(query: ListQuery): string {
  const { filter, condition, page, pageSize } = query;
  const parameters = new URLSearchParams();
  if (filter !== '') parameters.set('q', filter);
  if (condition !== undefined) parameters.set('state', condition);
  const sort = formatSortParameter(query);
  if (sort !== DEFAULT_QUERY.order) parameters.set('sort', sort);
  if (page !== DEFAULT_QUERY.page) parameters.set('page', String(page));
  if (pageSize !== DEFAULT_QUERY.pageSize) parameters.set('per_page', String(pageSize));
  return parameters.size === 0 ? '/' : `/?${parameters.toString()}`;
}

/** The `sort` parameter: `users` for the default direction, `users-asc` for the other one. */
export function formatSortParameter({
  order,
  isDescending,
}: Pick<ListQuery, 'order' | 'isDescending'>): string {
  if (isDescending === isDescendingByDefault(order)) return order;
  return `${order}-${isDescending ? 'desc' : 'asc'}`;
}

function parseSort(text: string): Pick<ListQuery, 'order' | 'isDescending'> {
  const [, name = '', direction] = /^([a-z]+)(?:-(asc|desc))?$/.exec(text) ?? [];
  const order = findLiteral(ORDERS, name);
  if (order === undefined) return DEFAULT_QUERY;
  return {
    order,
    isDescending: direction === undefined ? isDescendingByDefault(order) : direction === 'desc',
  };
}

function findLiteral<T extends string>(values: readonly T[], text: string | null): T | undefined {
  return values.find((value) => value === text);
}

function parsePositiveInteger(text: string | null): number | undefined {
  return text !== null && /^[1-9]\d{0,6}$/.test(text) ? Number(text) : undefined;
}
