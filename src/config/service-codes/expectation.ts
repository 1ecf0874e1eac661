import { z } from 'zod';
import { sanitizeLabelValue } from '../../listing/label-values.ts';
import type { Expectation } from '../../tally/expectations.ts';
import { expectedFound, formatValue } from '../config-error.ts';
import { count, schemaMeta } from '../schemas.ts';
import { expected, reject, strictMapping } from '../validation.ts';

const MAX_NAMES = 1000;
const NAME_EXPECTED = expected(
  'a name of a task (1 to 128 characters, none of them invisible; put digits in quotes)',
);

/** A name as it is in a label: another one would never be found. */
const name = z
  .string(NAME_EXPECTED)
  .refine((text) => text !== '' && sanitizeLabelValue(text) === text, NAME_EXPECTED);

const names = z
  .array(name, expected('a list of names'))
  .max(
    MAX_NAMES,
    expected(`at most ${MAX_NAMES} names`, { show: (input) => String(Array.isArray(input) && input.length) }),
  )
  .superRefine((list, context) => {
    const repeated = list.findIndex((one, index) => list.indexOf(one) !== index);
    if (repeated >= 0)
      reject(context, expectedFound('each name once', `${formatValue(list[repeated])} twice`), {
        path: [repeated],
      });
  });

/** The key `expect` of a service code. */
export const expectation = strictMapping(
  { tasks: count.optional(), names: names.optional() },
  expected('a mapping with tasks, names or both'),
  { expectedKey: 'tasks or names' },
)
  .refine(
    ({ tasks, names: list }) => tasks !== undefined || list !== undefined,
    expected('tasks, names or both'),
  )
  .transform(({ tasks = 0, names: list = [] }): Expectation => ({
    tasks: Math.max(tasks, list.length),
    names: list,
  }))
  .register(schemaMeta, { typeName: 'mapping' });
