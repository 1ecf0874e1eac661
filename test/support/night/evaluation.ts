import { parse } from 'yaml';
import { z } from 'zod';
import { runPromtool } from '../promtool.ts';
import { TemporaryFolder } from '../temporary-folder.ts';
import type { NightSeries, Samples } from './series.ts';
import { NIGHT_SECONDS, STEP_SECONDS } from './truth.ts';

export type Labels = Readonly<Record<string, string>>;

/** The alerts that fire, minute by minute. */
export type FiringAlerts = readonly (readonly Labels[])[];

const MINUTES = NIGHT_SECONDS / 60;

const ruleFile = z.object({ groups: z.array(z.looseObject({ rules: z.array(z.looseObject({})) })) });

/**
 * A test of promtool has no range query: an expectation that cannot hold makes it print what fires at a
 * minute.
 */
const IMPOSSIBLE = [{ labels: '{impossible="expectation"}', value: 0 }];

/**
 * Evaluates rules on the series of a night with promtool. The texts of alerts, which take half of the time,
 * are left out.
 */
export async function evaluateRules(
  rules: string,
  series: NightSeries,
  promtool = 'promtool',
): Promise<FiringAlerts> {
  using folder = new TemporaryFolder();
  const { groups } = ruleFile.parse(parse(rules));
  const withoutTexts = groups.map((group) => ({
    ...group,
    rules: group.rules.map((rule) => ({ ...rule, annotations: undefined })),
  }));
  folder.replace('rules.json', JSON.stringify({ groups: withoutTexts }));
  const interval = `${STEP_SECONDS}s`;
  folder.replace(
    'test.json',
    JSON.stringify({
      rule_files: [folder.at('rules.json')],
      evaluation_interval: interval,
      tests: [
        {
          interval,
          input_series: [...series].map(([name, samples]) => ({
            series: name,
            values: formatSamples(samples),
          })),
          promql_expr_test: Array.from({ length: MINUTES }, (_, minute) => ({
            expr: 'ALERTS{alertstate="firing"}',
            eval_time: `${minute}m`,
            exp_samples: IMPOSSIBLE,
          })),
        },
      ],
    }),
  );
  const output = await runPromtool(['test', 'rules', folder.at('test.json')], { promtool }).catch(readOutput);
  const answers = output.split(/^ +expr: /m).slice(1);
  if (answers.length !== MINUTES)
    throw new Error(`Expected the alerts of ${MINUTES} minutes, found ${output.slice(0, 500)}`);
  return answers.map((answer) => parseAlerts(/^\s*got:\s*(.*)$/m.exec(answer)?.[1] ?? ''));
}

/** As promtool reads them: where a series ends or pauses, a scrape marks it as stale. */
function formatSamples(samples: Samples): string {
  return samples
    .map((value, step) => value ?? (step > 0 && samples[step - 1] !== undefined ? 'stale' : '_'))
    .join(' ');
}

const failureSchema = z.object({ stdout: z.string(), stderr: z.string() });

function readOutput(error: unknown): string {
  const failure = failureSchema.safeParse(error);
  if (!failure.success) throw error;
  return failure.data.stdout + failure.data.stderr;
}

function parseAlerts(samples: string): readonly Labels[] {
  return [...samples.matchAll(/\{((?:[^"}]|"[^"]*")*)\}/g)].map(([, labels = '']) =>
    Object.fromEntries(
      [...labels.matchAll(/(\w+)="([^"]*)"/g)]
        .map(([, name = '', value = '']) => [name, value])
        .filter(([name = '']) => !['__name__', 'alertstate'].includes(name)),
    ),
  );
}
