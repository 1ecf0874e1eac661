import { z } from 'zod';
import { schemaMeta } from './schemas.ts';
import { expectedFound } from './config-error.ts';
import { expected, reject } from './validation.ts';

/** Names that people read instead of label values, by label value. */
export type DisplayNames = ReadonlyMap<string, string>;

const MAX_NAMES = 1000;
const NAME = /^(?!\s)[^\p{Cc}\p{Cs}]{1,64}(?<!\s)$/u;

const MAPPING = expected('a mapping of label values to names such as { "10": iPhone }');
const NAME_EXPECTED = expected('a name of 1 to 64 characters', {
  remedy: (raw) => (typeof raw === 'number' || typeof raw === 'boolean' ? 'put it in quotes' : undefined),
});

/** Names by label value: a mapping; as text, pairs `10=iPhone` separated by commas. */
export const displayNames = z
  .unknown()
  .transform((raw, context): DisplayNames => {
    const mapping = typeof raw === 'string' ? parsePairs(raw) : raw;
    if (typeof mapping !== 'object' || mapping === null || Array.isArray(mapping))
      return reject(context, MAPPING.error({ input: raw }));
    const names: readonly [string, unknown][] = Object.entries(mapping);
    if (names.length > MAX_NAMES)
      return reject(context, expectedFound(`at most ${MAX_NAMES} names`, String(names.length)));
    for (const [value, name] of names)
      if (typeof name !== 'string' || !NAME.test(name))
        reject(context, NAME_EXPECTED.error({ input: name }), { path: [value] });
    return new Map(names.map(([value, name]) => [value, String(name)]));
  })
  .register(schemaMeta, { typeName: 'names by label value', isList: true });

/** `10=iPhone,11=iPad`; `undefined` unless each pair has both parts. */
function parsePairs(text: string): Readonly<Record<string, string>> | undefined {
  const pairs = text.split(',').map((pair) => /^\s*([^=]+)=(.+)$/.exec(pair));
  const entries = pairs.flatMap((match) => {
    const [, value, name] = match ?? [];
    return value === undefined || name === undefined ? [] : [[value, name.trim()] as const];
  });
  return entries.length === pairs.length ? Object.fromEntries(entries) : undefined;
}
