import { z } from 'zod';
import { canNormalize, sanitizeLabelValue } from '../../listing/label-values.ts';
import type { StaticLabels } from '../../families/family.ts';
import type { Expectation, ExpectedMinima } from '../../tally/expectations.ts';
import { baseUrl } from '../addresses.ts';
import { expectedFound, formatValue } from '../config-error.ts';
import {
  bitRate,
  commaSeparated,
  positiveInteger,
  duration,
  schemaMeta,
  filePath,
  secretText,
  taskNameSource,
} from '../schemas.ts';
import { expected, reject, strictMapping } from '../validation.ts';

/** Longer codes could become one series: labels have 128 characters. URLs cannot have lone surrogates. */
const SERVICE_CODE = /^(?!\s)[^\p{Cc}\p{Cs}]{1,128}(?<!\s)$/u;
const CODE_EXPECTED = expected('a service code (1 to 128 characters; put digits in quotes)', {
  remedy: (raw) =>
    typeof raw === 'string' && SERVICE_CODE.test(raw.trim()) ? 'remove the surrounding spaces' : undefined,
});

const serviceCode = z
  .string(CODE_EXPECTED)
  .regex(SERVICE_CODE, CODE_EXPECTED)
  .register(schemaMeta, { typeName: 'string', json: { type: 'string', minLength: 1, maxLength: 128 } });

const MAX_NAMES = 1000;
const NAME_EXPECTED = expected(
  'a name of a task (1 to 128 characters, none of them invisible; put digits in quotes)',
);

/** A name as it is in a label, trimmed and in NFC: another one would never be found. */
const taskName = z
  .string(NAME_EXPECTED)
  .trim()
  .refine(canNormalize, NAME_EXPECTED)
  .normalize('NFC')
  .refine((text) => text !== '' && sanitizeLabelValue(text) === text, NAME_EXPECTED);

/** A name, or a mapping with what tasks of the name must reach. */
const expectedName = z.preprocess(
  (raw) => (typeof raw === 'object' ? raw : { name: raw }),
  strictMapping(
    {
      name: taskName,
      min_input_rate: bitRate.optional(),
      outputs: positiveInteger.optional(),
    },
    expected('a name or a mapping with one'),
    'name, min_input_rate or outputs',
  ).transform(({ name, min_input_rate: inputBytesPerSecond, outputs }): ExpectedMinima => ({
    name,
    inputBytesPerSecond,
    outputs,
  })),
);

const taskNames = z
  .array(expectedName, expected('a list of names'))
  .max(
    MAX_NAMES,
    expected(`at most ${MAX_NAMES} names`, { show: (input) => String(Array.isArray(input) && input.length) }),
  )
  .superRefine((list, context) => {
    const names = new Set<string>();
    for (const [index, { name }] of list.entries()) {
      if (names.has(name))
        return void reject(context, expectedFound('each name once', `${formatValue(name)} twice`), [index]);
      names.add(name);
    }
  });

const expectation = strictMapping(
  { tasks: positiveInteger.optional(), names: taskNames.optional() },
  expected('a mapping with tasks, names or both'),
  'tasks or names',
)
  .refine(
    ({ tasks, names: list }) => tasks !== undefined || list !== undefined,
    expected('tasks, names or both'),
  )
  .transform(({ tasks = 0, names: list = [] }): Expectation => ({
    tasks: Math.max(tasks, list.length),
    names: list.map(({ name }) => name),
    minima: list.filter(
      ({ inputBytesPerSecond, outputs }) => inputBytesPerSecond !== undefined || outputs !== undefined,
    ),
  }))
  .register(schemaMeta, { typeName: 'mapping' });

const MAX_LABELS = 10;
const LABEL_NAME = /^(?!__)[a-zA-Z_][a-zA-Z0-9_]*$/;
export const NAME_FORM = 'a label name of letters, digits and "_" that is not reserved';
export const RESERVED_REMEDY =
  'reserved are labels of metrics, those that Prometheus and the rules add, and names that start with "__"';
/** The same limit as for label values from the service. */
const LABEL_VALUE = /^[^\p{Cc}\p{Cs}]{1,128}$/u;

const VALUE_EXPECTED = expected('a string of 1 to 128 characters without control characters', {
  remedy: (raw) => (typeof raw === 'number' || typeof raw === 'boolean' ? 'put it in quotes' : undefined),
});

/** Keys of a service code that are indented too deep: as labels, they would be public. */
const SECRET_KEYS: readonly string[] = ['secret', 'secret_file'];
/**
 * Labels of the default metrics, those with a meaning for Prometheus, and those that it and the rules add.
 */
const OTHER_LABELS =
  'version major minor patch type space kind le quantile job instance pod namespace cluster ' +
  'alertname alertstate severity layer';
const RESERVED_LABELS: ReadonlySet<string> = new Set([...SECRET_KEYS, ...OTHER_LABELS.split(' ')]);

/** Label names with strings, sorted. No `z.record`: it drops `__proto__`, which has to be rejected. */
const staticLabels = z
  .unknown()
  .transform((raw, context): StaticLabels => {
    if (typeof raw !== 'object' || raw === null || Array.isArray(raw))
      return reject(context, expected('a mapping of label names to strings').error({ input: raw }));
    const labels: readonly [string, unknown][] = Object.entries(raw);
    if (labels.length > MAX_LABELS)
      return reject(context, expectedFound(`at most ${MAX_LABELS} labels`, String(labels.length)));
    for (const [name, value] of labels) {
      // The value of a misplaced secret is not checked, nor shown.
      if (!LABEL_NAME.test(name) || RESERVED_LABELS.has(name)) {
        const remedy = SECRET_KEYS.includes(name) ? 'move it out of labels' : RESERVED_REMEDY;
        reject(context, expectedFound(NAME_FORM, formatValue(name), remedy), [name], true);
      } else if (typeof value !== 'string' || !LABEL_VALUE.test(value))
        reject(context, VALUE_EXPECTED.error({ input: value }), [name]);
    }
    const strings = labels.filter((label): label is [string, string] => typeof label[1] === 'string');
    return Object.freeze(Object.fromEntries(strings.toSorted(([one], [other]) => (one < other ? -1 : 1))));
  })
  .register(schemaMeta, {
    typeName: 'mapping of labels',
    json: { type: 'object', maxProperties: MAX_LABELS, additionalProperties: { type: 'string' } },
  });

/** The keys of a service code, each described for the reference. */
export const SERVICE_CODE_KEYS = {
  service_code: serviceCode.describe('The service code. Required.'),
  secret: secretText.describe('Shared secret of the code.').optional(),
  secret_file: filePath.describe('File that contains the secret, instead of `secret`.').optional(),
  base_url: baseUrl.describe('Overrides `upstream.base_url`.').optional(),
  timeout: duration(1).describe('Overrides `upstream.timeout`.').optional(),
  interval: duration(1000).describe('Overrides `poll.interval`.').optional(),
  stall_after: duration(1).describe('Overrides `poll.stall_after`.').optional(),
  task_name: taskNameSource.describe('Overrides `tasks.name`.').optional(),
  expect: expectation
    .describe(
      'What must run, for metrics and alerts: `tasks`, a number of live tasks, and `names`, a list of names of tasks, or of mappings of `name` with `min_input_rate`, `outputs` or both; see docs/service-codes.md.',
    )
    .optional(),
  labels: staticLabels
    .describe(
      'Labels added to every series of the code: name to string, at most 10; see docs/service-codes.md.',
    )
    .optional(),
} as const;

const entrySchema = strictMapping(
  SERVICE_CODE_KEYS,
  expected('a service code (put digits in quotes) or a mapping with one'),
  'a key of a service code',
).readonly();

export type ServiceCodeEntry = z.output<typeof entrySchema>;

/** An entry of a list of service codes: a string or a mapping. */
export const serviceCodeEntry = z.preprocess(
  (raw) => (typeof raw === 'string' ? { service_code: raw } : raw),
  entrySchema,
);

export const serviceCodeEntries = z
  .array(
    serviceCodeEntry,
    expected('a list of service codes', {
      remedy: (raw) => {
        if (raw === null || raw === undefined) return 'write [] for an empty list';
        return typeof raw === 'object' && 'service_codes' in raw ? 'remove the key service_codes' : undefined;
      },
    }),
  )
  .readonly();

/** Service codes: a string with commas, or a list of strings and mappings. */
export const serviceCodeList = commaSeparated(serviceCodeEntries, 'comma-separated codes');

const GLOB = 'the path of a YAML or JSON file (.yml, .yaml, .json), with one "*" in its name at most';
const WILDCARD = /^[^*]*(?:\*[^*/]*)?$/;
const FILE_EXTENSION = /\.(?:ya?ml|json)$/i;

/** A path of the kind that `file_sd` of Prometheus accepts: a known extension, one `*` in the file name. */
const codeGlob = z
  .string(expected(GLOB))
  .refine(
    (path) => WILDCARD.test(path),
    expected(GLOB, { remedy: 'list each folder and each pattern separately' }),
  )
  .regex(FILE_EXTENSION, expected(GLOB));

export const codeGlobList = commaSeparated(
  z.array(codeGlob, expected('a path or a list of paths')).min(1, expected('at least one path')).readonly(),
  'comma-separated paths',
);
