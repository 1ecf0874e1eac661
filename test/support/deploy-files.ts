import { readdirSync, readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { parse } from 'yaml';
import { z } from 'zod';

const seriesRule = z.strictObject({ record: z.string(), expr: z.string() });

const alertRule = z.strictObject({
  alert: z.string(),
  expr: z.string(),
  for: z.string(),
  keep_firing_for: z.string().optional(),
  labels: z.record(z.string(), z.string()),
  annotations: z.record(z.string(), z.string()),
});

const ruleFile = z.strictObject({
  groups: z.array(z.strictObject({ name: z.string(), rules: z.array(z.union([seriesRule, alertRule])) })),
});

/** An alerting rule as it is shipped. */
export type AlertRule = z.infer<typeof alertRule>;
/** A recording rule as it is shipped. */
export type SeriesRule = z.infer<typeof seriesRule>;

/** The path of a file or folder under `deploy`, seen from the compiled tests. */
export function deployPath(name: string): string {
  return fileURLToPath(new URL(`../../../deploy/${name}`, import.meta.url));
}

/** The text of a file under `deploy`. */
export function deployedText(name: string): string {
  return readFileSync(deployPath(name), 'utf8');
}

/** The names of the YAML files in a folder under `deploy`, with the folder. */
export function deployedYaml(folder: string): readonly string[] {
  return readdirSync(deployPath(folder))
    .filter((name) => name.endsWith('.yml'))
    .toSorted()
    .map((name) => `${folder}/${name}`);
}

function rulesOf(name: string): readonly (AlertRule | SeriesRule)[] {
  return ruleFile.parse(parse(deployedText(name))).groups.flatMap(({ rules }) => rules);
}

/** All rules that are shipped for Prometheus. */
export function shippedRules(): readonly (AlertRule | SeriesRule)[] {
  return deployedYaml('prometheus/rules').flatMap(rulesOf);
}

/** The alerts among them. */
export function shippedAlerts(): readonly AlertRule[] {
  return shippedRules().flatMap((rule) => ('alert' in rule ? [rule] : []));
}

/** The recorded series among them. */
export function shippedSeries(): readonly SeriesRule[] {
  return shippedRules().flatMap((rule) => ('record' in rule ? [rule] : []));
}

/** The queries of the runbook: its blocks that are marked as PromQL. */
export function runbookQueries(text: string = deployedText('prometheus/runbook.md')): readonly string[] {
  return [...text.matchAll(/^```promql\n([^`]*)^```$/gm)].map((match) => match[1]?.trim() ?? '');
}
