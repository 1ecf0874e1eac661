import { z } from 'zod';
import { baseUrl } from './addresses.ts';
import type { Format, Issue } from './format.ts';
import { accept, duration, filePath, reject, secretText, splitList } from './format.ts';
import { nearestHint } from './nearest.ts';
import { mismatch, show } from './problem.ts';
import { staticLabels } from './static-labels.ts';

/**
 * Label values are cut at 128 characters: two longer codes could become one series. Half a surrogate pair, which YAML and
 * JSON can write, has no place in an address.
 */
const SERVICE_CODE = /^(?!\s)[^\p{Cc}\p{Cs}]{1,128}(?<!\s)$/u;

/** A service code as the service knows it. */
const serviceCodeName: Format<string> = {
  name: 'text',
  parse(raw) {
    const expected = 'a service code (1 to 128 characters; put digits in quotes)';
    if (typeof raw !== 'string') return reject(expected, raw);
    if (SERVICE_CODE.test(raw)) return accept(raw);
    return reject(
      expected,
      raw,
      SERVICE_CODE.test(raw.trim()) ? 'take the spaces around it away' : undefined,
    );
  },
};

/** What can be set for one code: key to format and meaning, for the schema and for the reference. */
export const SERVICE_CODE_KEYS = {
  service_code: { doc: 'The code. Required.', format: serviceCodeName },
  secret: { doc: 'Its shared secret.', format: secretText },
  secret_file: { doc: 'File that holds that secret, instead of `secret`.', format: filePath },
  base_url: { doc: 'Instead of `upstream.base_url`.', format: baseUrl },
  timeout: { doc: 'Instead of `upstream.timeout`.', format: duration(1) },
  interval: { doc: 'Instead of `poll.interval`.', format: duration(1000) },
  stale_after: { doc: 'Instead of `poll.stale_after`.', format: duration(1) },
  stall_after: { doc: 'Instead of `poll.stall_after`.', format: duration(1) },
  labels: {
    doc: 'Labels that each of its series gets besides, name to text, at most 10; see docs/service-codes.md.',
    format: staticLabels,
  },
} satisfies Readonly<Record<string, { readonly doc: string; readonly format: Format<unknown> }>>;

/** A {@link Format} as a schema: its message becomes the issue's. */
function field<T>(format: Format<T>) {
  return z.unknown().transform((raw, context): T => {
    const parsed = format.parse(raw);
    if (parsed.ok) return parsed.value;
    for (const { message, path, ofKey } of parsed.issues)
      context.issues.push({ code: 'custom', message, path: [...path], params: { ofKey }, input: raw });
    return z.NEVER;
  });
}

const entry = z.strictObject(
  {
    service_code: field(SERVICE_CODE_KEYS.service_code.format),
    secret: field(SERVICE_CODE_KEYS.secret.format).optional(),
    secret_file: field(SERVICE_CODE_KEYS.secret_file.format).optional(),
    base_url: field(SERVICE_CODE_KEYS.base_url.format).optional(),
    timeout: field(SERVICE_CODE_KEYS.timeout.format).optional(),
    interval: field(SERVICE_CODE_KEYS.interval.format).optional(),
    stale_after: field(SERVICE_CODE_KEYS.stale_after.format).optional(),
    stall_after: field(SERVICE_CODE_KEYS.stall_after.format).optional(),
    labels: field(SERVICE_CODE_KEYS.labels.format).optional(),
  },
  {
    error: ({ input }) =>
      mismatch('a service code (put digits in quotes) or a mapping with one', show(input)),
  },
);

const schema = z.array(z.preprocess((raw) => (typeof raw === 'string' ? { service_code: raw } : raw), entry));

/** One service code as it was given, each value parsed. */
export type ServiceCodeEntry = z.infer<typeof entry>;

function toIssues(issue: z.core.$ZodIssue): readonly Issue[] {
  const path = issue.path.map((step) => (typeof step === 'number' ? step : String(step)));
  if (issue.code === 'custom' && issue.params?.['ofKey'] === true)
    return [{ path, message: issue.message, ofKey: true }];
  if (issue.code !== 'unrecognized_keys') return [{ path, message: issue.message }];
  const known = Object.keys(SERVICE_CODE_KEYS);
  return issue.keys.map((key) => ({
    path: [...path, key],
    message: mismatch('a key of a service code', show(key), nearestHint(key, known)),
    ofKey: true,
  }));
}

/** The codes: a text with commas, or a list of texts and mappings. */
export const serviceCodeList: Format<readonly ServiceCodeEntry[]> = {
  name: 'comma-separated codes',
  parse(raw) {
    if (typeof raw !== 'string' && !Array.isArray(raw)) return reject('a list of service codes', raw);
    const result = schema.safeParse(splitList(raw));
    if (!result.success) return { ok: false, issues: result.error.issues.flatMap(toIssues) };
    return accept(result.data);
  },
};
