import { POLLED_CODE } from './read-listing.ts';
import { validateListing } from './listing-oracle.ts';
import type { Listing } from '../../src/listing/listing.ts';

/** The expected result of reading a body, computed with `JSON.parse` and the schema. */
export type ExpectedOutcome =
  | { readonly kind: 'not_json' | 'bad_shape' }
  | { readonly kind: 'refusal'; readonly ret: number }
  | { readonly kind: 'listing'; readonly listing: Listing };

const LISTS = ['user_list', 'task_list'] as const;

/** Computes the expected result of a body. A duplicate member makes it invalid; the first `ret` still counts. */
export function computeExpectedOutcome(body: Buffer): ExpectedOutcome {
  const text = body.toString();
  const value = parseJson(text);
  if (value === undefined) return { kind: 'not_json' };
  if (typeof value.json !== 'object' || value.json === null || Array.isArray(value.json))
    return { kind: 'bad_shape' };
  const members = listTopLevelMembers(text);
  const first = new Map(members.toReversed());
  const ret = parseRet(first.get('ret'));
  if (ret !== undefined && ret !== 0) return { kind: 'refusal', ret };
  const isOnce = ['ret', ...LISTS].every((name) => members.filter(([key]) => key === name).length === 1);
  const [users, tasks] = LISTS.map((name) => first.get(name));
  if (ret === undefined || !isOnce || !Array.isArray(users) || !Array.isArray(tasks))
    return { kind: 'bad_shape' };
  return { kind: 'listing', listing: validateListing(users, tasks, POLLED_CODE) };
}

export function isJson(text: string): boolean {
  return parseJson(text) !== undefined;
}

function parseJson(text: string): { readonly json: unknown } | undefined {
  try {
    return { json: JSON.parse(text) };
  } catch {
    return undefined;
  }
}

/** Parses `ret`: an integer, or a string of digits ("Response object" in the interface specification). */
function parseRet(value: unknown): number | undefined {
  const number = typeof value === 'string' && /^-?[0-9]+$/.test(value) ? Number(value) : value;
  return typeof number === 'number' && Number.isSafeInteger(number) ? number : undefined;
}

/** Lists the members of the outermost object of a JSON text in order, including duplicates. */
function listTopLevelMembers(text: string): [key: string, value: unknown][] {
  const members: [string, unknown][] = [];
  let [depth, key, start] = [0, '', 0];
  const close = (end: number): void => {
    if (text.slice(start, end).trim() !== '') members.push([key, JSON.parse(text.slice(start, end))]);
    start = end + 1;
  };
  for (let at = 0; at < text.length; at += 1) {
    const character = text[at];
    if (character === '"') {
      at = findEndOfString(text, at);
    } else if (character === '{' || character === '[') {
      depth += 1;
      if (depth === 1) start = at + 1;
    } else if (character === '}' || character === ']') {
      depth -= 1;
      if (depth === 0) close(at);
    } else if (character === ',' && depth === 1) {
      close(at);
    } else if (character === ':' && depth === 1) {
      key = String(JSON.parse(text.slice(start, at)));
      start = at + 1;
    }
  }
  return members;
}

/** Returns the offset of the closing quote of a string. */
function findEndOfString(text: string, quote: number): number {
  let at = quote + 1;
  while (text[at] !== '"') at += text[at] === '\\' ? 2 : 1;
  return at;
}
