import type { ServiceCodeCondition, ServiceCodeStatus } from '../exporter-facade.ts';
import { CONDITIONS, rankSeverity } from './conditions.ts';
import { PLOTTED_FIELDS } from './plot.ts';

/** A column of the list, and the order that sorts by it. */
export interface Order {
  readonly name: string;
  readonly title: string;
  readonly text: string;
  readonly isDescending: boolean;
  /** `undefined` for unknown values, which come last. */
  readonly readKey: (row: ServiceCodeStatus) => number | undefined;
}

const STATE: Order = {
  name: 'state',
  title: 'State',
  text: 'State, worst first',
  isDescending: false,
  readKey: rankSeverity,
};

/** The orders of the list, in the order of its columns. */
export const ORDERS: readonly Order[] = [
  { name: 'code', title: 'Service code', text: 'Service code', isDescending: false, readKey: () => 0 },
  STATE,
  ...PLOTTED_FIELDS.map(({ field, title }) => ({
    name: field,
    title,
    text: `${title}, most first`,
    isDescending: true,
    readKey: ({ totals }: ServiceCodeStatus) => totals?.[field],
  })),
  {
    name: 'success',
    title: 'Last success',
    text: 'Last success, oldest first',
    isDescending: false,
    readKey: ({ lastSuccessMs }) => lastSuccessMs,
  },
];

const PAGE_SIZE = 50;
const MAX_FILTER_CHARACTERS = 128;

/** The filter, the order and the page of the list. */
export interface ListQuery {
  /** Part of a service code or of a label (`tenant=acme`), ignoring case; '' matches all. */
  readonly filter: string;
  readonly condition: ServiceCodeCondition | undefined;
  readonly order: Order;
  /** Counts from 1. */
  readonly page: number;
}

/** The list without parameters: the most severe condition first. */
export const DEFAULT_QUERY: ListQuery = { filter: '', condition: undefined, order: STATE, page: 1 };

/** Parses the parameters of a URL. Invalid ones are ignored, so that old links still work. */
export function parseListQuery(query: URLSearchParams): ListQuery {
  const page = query.get('page') ?? '';
  return {
    filter: Array.from(query.get('q')?.trim() ?? '')
      .slice(0, MAX_FILTER_CHARACTERS)
      .join(''),
    condition: CONDITIONS.find((condition) => condition === query.get('state')),
    order: ORDERS.find(({ name }) => name === query.get('sort')) ?? STATE,
    // Strict: zod's coercion would accept `1e3`.
    page: /^[1-9]\d{0,6}$/.test(page) ? Number(page) : 1,
  };
}

/** The URL of a list, without the parameters that have their default. */
export function formatListUrl({ filter, condition, order, page }: ListQuery): string {
  const parameters = new URLSearchParams();
  if (filter !== '') parameters.set('q', filter);
  if (condition !== undefined) parameters.set('state', condition);
  if (order !== STATE) parameters.set('sort', order.name);
  if (page !== 1) parameters.set('page', String(page));
  return parameters.size === 0 ? '/' : `/?${parameters.toString()}`;
}

/** One page of a list. */
export interface ListResults {
  readonly rows: readonly ServiceCodeStatus[];
  /** Position of the first row among the matching ones, from 1; 0 if there are no rows. */
  readonly firstPosition: number;
  readonly matchingCount: number;
  /** The page that is shown: the last one if the query requests a later one. */
  readonly page: number;
  readonly pageCount: number;
}

/** Filters, sorts and paginates rows. */
export function queryRows(all: readonly ServiceCodeStatus[], query: ListQuery): ListResults {
  const matching = all.filter((row) => isMatch(row, query)).toSorted(createComparator(query.order));
  const pageCount = Math.max(1, Math.ceil(matching.length / PAGE_SIZE));
  const page = Math.min(query.page, pageCount);
  const start = (page - 1) * PAGE_SIZE;
  return {
    rows: matching.slice(start, start + PAGE_SIZE),
    firstPosition: matching.length === 0 ? 0 : start + 1,
    matchingCount: matching.length,
    page,
    pageCount,
  };
}

function isMatch({ serviceCode, labels, condition }: ServiceCodeStatus, query: ListQuery): boolean {
  if (query.condition !== undefined && query.condition !== condition) return false;
  const needle = query.filter.toLowerCase();
  const texts = [serviceCode, ...Object.entries(labels).map(([label, value]) => `${label}=${value}`)];
  return texts.some((text) => text.toLowerCase().includes(needle));
}

/** Ties are sorted by service code. */
function createComparator({ isDescending, readKey }: Order) {
  const sign = isDescending ? -1 : 1;
  return (a: ServiceCodeStatus, b: ServiceCodeStatus): number => {
    const [left, right] = [readKey(a), readKey(b)];
    if (left === right) return a.serviceCode < b.serviceCode ? -1 : 1;
    if (left === undefined) return 1;
    return right === undefined ? -1 : sign * (left - right);
  };
}

const PATH_PREFIX = '/service-codes/';
const QUERY_PARAMETER = 'service_code';

/** The path of the page of a service code. */
export function formatServiceCodePath(serviceCode: string): string {
  const code = encodeURIComponent(serviceCode.toWellFormed());
  // Browsers resolve the segments "." and ".." even if they are percent-encoded.
  return /^\.\.?$/.test(serviceCode) ? `${PATH_PREFIX}?${QUERY_PARAMETER}=${code}` : PATH_PREFIX + code;
}

/** Whether a path is that of a service code's page. */
export function isServiceCodePath(path: string): boolean {
  return path.startsWith(PATH_PREFIX);
}

/** The service code of a page's path and query; `undefined` if they have none. */
export function parseServiceCodePath(path: string, query: URLSearchParams): string | undefined {
  const segment = path.slice(PATH_PREFIX.length);
  if (segment === '') return query.get(QUERY_PARAMETER) ?? undefined;
  try {
    return decodeURIComponent(segment);
  } catch {
    return undefined;
  }
}
