import type { ServiceCodeStatus } from '../view.ts';
import { urgencyOf } from './conditions.ts';
import { labelTexts } from './label-list.ts';
import type { ListQuery, Order } from './list-query.ts';

/** The part of a list that a page shows. */
export interface Arrangement {
  readonly rows: readonly ServiceCodeStatus[];
  /** Place of the first of them in the whole list, from 1; 0 if there is none. */
  readonly first: number;
  /** How many match. */
  readonly matching: number;
  /** The page that it is: the last one, where the query asks for one beyond. */
  readonly page: number;
  readonly pages: number;
}

/** Filters and orders rows, and takes a page of them. */
export function arrange(all: readonly ServiceCodeStatus[], query: ListQuery): Arrangement {
  const matching = all.filter((row) => matches(row, query)).toSorted(comparison(query));
  const pages = Math.max(1, Math.ceil(matching.length / query.pageSize));
  const page = Math.min(query.page, pages);
  const start = (page - 1) * query.pageSize;
  return {
    rows: matching.slice(start, start + query.pageSize),
    first: matching.length === 0 ? 0 : start + 1,
    matching: matching.length,
    page,
    pages,
  };
}

function matches({ serviceCode, labels, condition }: ServiceCodeStatus, query: ListQuery): boolean {
  if (query.condition !== undefined && query.condition !== condition) return false;
  const wanted = query.filter.toLowerCase();
  return (
    wanted === '' || [serviceCode, ...labelTexts(labels)].some((text) => text.toLowerCase().includes(wanted))
  );
}

type Comparison = (a: ServiceCodeStatus, b: ServiceCodeStatus) => number;

/** What is not known comes last in either direction; among equals the service code decides. */
function comparison({ order, isDescending }: ListQuery): Comparison {
  const sign = isDescending ? -1 : 1;
  if (order === 'code') return (a, b) => sign * byCode(a, b);
  const key = KEYS[order];
  return (a, b) => {
    const [left, right] = [key(a), key(b)];
    if (left === right) return byCode(a, b);
    if (left === undefined) return 1;
    return right === undefined ? -1 : sign * (left - right);
  };
}

const byCode: Comparison = (a, b) =>
  a.serviceCode === b.serviceCode ? 0 : a.serviceCode < b.serviceCode ? -1 : 1;

const KEYS: Readonly<Record<Exclude<Order, 'code'>, (row: ServiceCodeStatus) => number | undefined>> = {
  state: urgencyOf,
  users: ({ figures }) => figures?.users,
  tasks: ({ figures }) => figures?.tasks,
  ingress: ({ figures }) => figures?.ingress,
  egress: ({ figures }) => figures?.egress,
  connections: ({ figures }) => figures?.connections,
  success: ({ lastSuccessMs }) => lastSuccessMs,
  duration: ({ history }) => history.latestDurationMs,
};
