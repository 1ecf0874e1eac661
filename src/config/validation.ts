// Never set zod's `reportInput`: issues would carry secrets.
import { z } from 'zod';
import { expectedFound, formatSuggestion, formatValue, type Problem } from './config-error.ts';

/** Path inside a value, such as `[2, 'interval']`; empty for the value itself. */
export type ValuePath = readonly (string | number)[];

/** Formats the location of a source, of a value inside it, or of its key. */
export type Locate = (path?: ValuePath, isKey?: boolean) => string;

interface ExpectedOptions {
  readonly remedy?: string | ((input: unknown) => string | undefined);
  /** Formats the rejected value. Use `describeKind` for secrets; the default quotes the value. */
  readonly show?: (input: unknown) => string;
}

/** Parameters of any zod schema or refinement: a rejected value gives `expected …, found …; remedy`. */
export function expected(expectation: string, { remedy, show = formatValue }: ExpectedOptions = {}) {
  return {
    error: ({ input }: { readonly input?: unknown }): string =>
      expectedFound(expectation, show(input), typeof remedy === 'function' ? remedy(input) : remedy),
    /** Ends the checks of the value, so that each value has one message. */
    abort: true,
  } as const;
}

type Expected = ReturnType<typeof expected>;

/** A schema for the values that `parse` accepts; `undefined` rejects the value with the expectation. */
export function parsedBy<T>(parse: (raw: unknown) => T | undefined, { error }: Expected) {
  return z.unknown().transform((raw, context): T => {
    const value = parse(raw);
    return value === undefined ? reject(context, error({ input: raw })) : value;
  });
}

/** Rejects the value of a `transform` or `superRefine`, or the part at `path`, or its key. */
export function reject(
  context: z.core.$RefinementCtx,
  message: string,
  path: ValuePath = [],
  isKey = false,
): never {
  context.addIssue({ code: 'custom', message, path: [...path], params: { isKey } });
  return z.NEVER;
}

/** An object schema that rejects each unknown key with a suggestion, besides the mistakes of known keys. */
export function strictMapping<const Shape extends z.core.$ZodLooseShape>(
  shape: Shape,
  { error }: Expected,
  expectedKey = 'a known key',
) {
  const rejectKey = (key: string): string =>
    expectedFound(expectedKey, 'an unknown one', formatSuggestion(key, Object.keys(shape)));
  return z.strictObject(shape, {
    // zod reports all unknown keys in one issue: one line per key, split by `toProblems`.
    error: (issue) =>
      issue.code === 'unrecognized_keys' ? issue.keys.map(rejectKey).join('\n') : error(issue),
  });
}

/** Converts a zod error to problems: one per mistake, and one per unknown key. */
export function toProblems(error: Pick<z.ZodError, 'issues'> | undefined, locate: Locate): Problem[] {
  return (error?.issues ?? []).flatMap((issue): Problem[] => {
    const path = issue.path.map((step) => (typeof step === 'number' ? step : String(step)));
    if (issue.code === 'unrecognized_keys') {
      const lines = issue.message.split('\n');
      return issue.keys.map((key, index) => ({
        location: locate([...path, key], true),
        message: lines[index] ?? issue.message,
      }));
    }
    const isKey = issue.code === 'custom' && issue.params?.['isKey'] === true;
    return [{ location: locate(path, isKey), message: issue.message }];
  });
}
