import type { ServiceCodeStatus } from '../exporter-facade.ts';
import { rankSeverity } from './conditions.ts';
import { formatLabels } from './label-list.ts';
import type { ListQuery, Order } from './list-query.ts';

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
  const matching = all.filter((row) => isMatch(row, query)).toSorted(createComparator(query));
  const pageCount = Math.max(1, Math.ceil(matching.length / query.pageSize));
  const page = Math.min(query.page, pageCount);
  const start = (page - 1) * query.pageSize;
  return {
    rows: matching.slice(start, start + query.pageSize),
    firstPosition: matching.length === 0 ? 0 : start + 1,
    matchingCount: matching.length,
    page,
    pageCount,
  };
}

function isMatch({ serviceCode, labels, condition }: ServiceCodeStatus, query: ListQuery): boolean {
  if (query.condition !== undefined && query.condition !== condition) return false;
  const needle = query.filter.toLowerCase();
  return (
    needle === '' ||
    [serviceCode, ...formatLabels(labels)].some((text) => text.toLowerCase().includes(needle))
  );
}

type Comparator = (a: ServiceCodeStatus, b: ServiceCodeStatus) => number;

/** Unknown values come last in both directions; ties are sorted by service code. */
function createComparator({ order, isDescending }: ListQuery): Comparator {
  const sign = isDescending ? -1 : 1;
  if (order === 'code') return (a, b) => sign * compareServiceCodes(a, b);
  const readKey = SORT_KEYS[order];
  return (a, b) => {
    const [left, right] = [readKey(a), readKey(b)];
    if (left === right) return compareServiceCodes(a, b);
    if (left === undefined) return 1;
    return right === undefined ? -1 : sign * (left - right);
  };
}

const compareServiceCodes: Comparator = (a, b) =>
  a.serviceCode === b.serviceCode ? 0 : a.serviceCode < b.serviceCode ? -1 : 1;

const SORT_KEYS: Readonly<Record<Exclude<Order, 'code'>, (row: ServiceCodeStatus) => number | undefined>> = {
  state: rankSeverity,
  users: ({ totals }) => totals?.users,
  tasks: ({ totals }) => totals?.tasks,
  ingress: ({ totals }) => totals?.ingress,
  egress: ({ totals }) => totals?.egress,
  connections: ({ totals }) => totals?.connections,
  success: ({ lastSuccessMs }) => lastSuccessMs,
  duration: ({ history }) => history.latestDurationMs,
};
