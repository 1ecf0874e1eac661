import { z } from 'zod';
import { CATALOGUE } from '../../metrics/catalogue/catalogue.ts';
import type { StaticLabels } from '../../metrics/catalogue/family.ts';
import { expectedFound, formatValue } from '../config-error.ts';
import { schemaMeta } from '../schemas.ts';
import { expected, reject } from '../validation.ts';

const MAX_LABELS = 10;
const LABEL_NAME = /^[a-zA-Z_][a-zA-Z0-9_]*$/;
/** The same limit as for label values from the service. */
const LABEL_VALUE = /^[^\p{Cc}\p{Cs}]{1,128}$/u;

const VALUE_EXPECTED = expected('a string of 1 to 128 characters without control characters', {
  remedy: (raw) => (typeof raw === 'number' || typeof raw === 'boolean' ? 'put it in quotes' : undefined),
});

/** Labels of the default metrics of the process. */
const PROCESS_LABELS = ['version', 'major', 'minor', 'patch', 'type', 'space', 'kind'];
/** Labels with a meaning for Prometheus, or that it adds to scraped series. */
const PROMETHEUS_LABELS = ['le', 'quantile', 'job', 'instance', 'pod', 'namespace', 'cluster'];

const RESERVED_LABELS: ReadonlySet<string> = new Set([
  ...Object.values(CATALOGUE).flatMap(({ labels }) => labels),
  ...PROCESS_LABELS,
  ...PROMETHEUS_LABELS,
]);

/** Keys of a service code that are indented too deep: as labels, they would be public. */
const SECRET_KEYS: readonly string[] = ['secret', 'secret_file'];

/**
 * Static labels: a mapping of label names to strings, sorted by name.
 *
 * Not a `z.record`: it drops the key `__proto__`, which has to be rejected like other names with `__`.
 */
export const staticLabels = z
  .unknown()
  .transform((raw, context): StaticLabels => {
    if (typeof raw !== 'object' || raw === null || Array.isArray(raw))
      return reject(context, expected('a mapping of label names to strings').error({ input: raw }));
    const labels: readonly [string, unknown][] = Object.entries(raw);
    if (labels.length > MAX_LABELS)
      return reject(context, expectedFound(`at most ${MAX_LABELS} labels`, String(labels.length)));
    for (const [name, value] of labels) {
      const nameMistake = findNameMistake(name);
      if (nameMistake !== undefined) reject(context, nameMistake, [name], true);
      // The value of a misplaced secret is not checked, nor shown.
      else if (typeof value !== 'string' || !LABEL_VALUE.test(value))
        reject(context, VALUE_EXPECTED.error({ input: value }), [name]);
    }
    const strings = labels.map(([name, value]): [string, string] => [name, String(value)]);
    return Object.freeze(Object.fromEntries(strings.toSorted(compareByName)));
  })
  .register(schemaMeta, {
    typeName: 'mapping of labels',
    json: { type: 'object', maxProperties: MAX_LABELS, additionalProperties: { type: 'string' } },
  });

/** The message about a label name, unless it is valid. */
function findNameMistake(name: string): string | undefined {
  const found = formatValue(name);
  if (SECRET_KEYS.includes(name)) return expectedFound('a label name', found, 'move it out of labels');
  if (!LABEL_NAME.test(name)) return expectedFound('a label name (letters, digits and "_")', found);
  if (name.startsWith('__'))
    return expectedFound('a label name', found, 'names that start with "__" are reserved by Prometheus');
  if (RESERVED_LABELS.has(name))
    return expectedFound(
      'a label name that is not reserved',
      found,
      'a metric or Prometheus already uses it',
    );
  return undefined;
}

function compareByName([one]: readonly [string, string], [other]: readonly [string, string]): number {
  return one < other ? -1 : 1;
}
