import { CATALOGUE } from '../metrics/catalogue.ts';
import type { StaticLabels } from '../metrics/family.ts';
import type { Format, Issue } from './format.ts';
import { accept, reject } from './format.ts';
import { mismatch, show } from './problem.ts';

const MAX_LABELS = 10;
const NAME = /^[a-zA-Z_][a-zA-Z0-9_]*$/;
/** As long as the values that come from the service can be. */
const VALUE = /^[^\p{Cc}\p{Cs}]{1,128}$/u;

/** Labels that the default metrics of the process have. */
const OF_PROCESS = ['version', 'major', 'minor', 'patch', 'type', 'space', 'kind'];
/** Those that mean something to Prometheus, or that it sets where it scrapes. */
const OF_PROMETHEUS = ['le', 'quantile', 'job', 'instance', 'pod', 'namespace', 'cluster'];

const TAKEN: ReadonlySet<string> = new Set([
  ...Object.values(CATALOGUE).flatMap(({ labels }) => labels),
  ...OF_PROCESS,
  ...OF_PROMETHEUS,
]);

/** Keys of a service code that have slipped into its labels: as such they would be shown to everyone. */
const SECRETS: readonly string[] = ['secret', 'secret_file'];

/** Static labels: a mapping of names to texts. In the order of the names, whatever order they are given in. */
export const staticLabels: Format<StaticLabels> = {
  name: 'mapping of labels',
  parse(raw) {
    if (typeof raw !== 'object' || raw === null || Array.isArray(raw))
      return reject('a mapping of label names to texts', raw);
    const labels: readonly [string, unknown][] = Object.entries(raw);
    if (labels.length > MAX_LABELS) return reject(`at most ${MAX_LABELS} labels`, labels.length);
    const issues = labels.flatMap(([name, value]) => [...nameIssues(name), ...valueIssues(name, value)]);
    if (issues.length > 0) return { ok: false, issues };
    const texts = labels.flatMap(([name, value]): [string, string][] =>
      typeof value === 'string' ? [[name, value]] : [],
    );
    return accept(Object.freeze(Object.fromEntries(texts.toSorted(byName))));
  },
};

function nameIssues(name: string): readonly Issue[] {
  const refuse = (expected: string, found: string): Issue[] => [
    { path: [name], message: mismatch(expected, found), ofKey: true },
  ];
  if (SECRETS.includes(name))
    return refuse('the name of a label', `${show(name)}, which belongs beside labels`);
  if (!NAME.test(name)) return refuse('the name of a label (letters, digits and "_")', show(name));
  if (name.startsWith('__'))
    return refuse('the name of a label', `${show(name)}: names that begin with "__" are Prometheus's own`);
  return TAKEN.has(name)
    ? refuse('the name of a label that is not taken', `${show(name)}, which metrics or Prometheus have`)
    : [];
}

function valueIssues(name: string, value: unknown): readonly Issue[] {
  if (SECRETS.includes(name) || (typeof value === 'string' && VALUE.test(value))) return [];
  const expected = 'a text of 1 to 128 characters, none of them a control character';
  const hint = typeof value === 'number' || typeof value === 'boolean' ? 'put it in quotes' : undefined;
  return [{ path: [name], message: mismatch(expected, show(value), hint) }];
}

function byName([one]: readonly [string, string], [other]: readonly [string, string]): number {
  return one < other ? -1 : 1;
}
