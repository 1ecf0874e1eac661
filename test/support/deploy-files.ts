import { readdirSync, readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { parse } from 'yaml';
import { z } from 'zod';

const recordingRuleSchema = z.strictObject({ record: z.string(), expr: z.string() });

const alertRuleSchema = z.strictObject({
  alert: z.string(),
  expr: z.string(),
  for: z.string(),
  keep_firing_for: z.string().optional(),
  labels: z.record(z.string(), z.string()),
  annotations: z.record(z.string(), z.string()),
});

const ruleFileSchema = z.strictObject({
  groups: z.array(
    z.strictObject({ name: z.string(), rules: z.array(z.union([recordingRuleSchema, alertRuleSchema])) }),
  ),
});

/** A shipped alerting rule. */
export type AlertRule = z.infer<typeof alertRuleSchema>;
/** A shipped recording rule. */
export type RecordingRule = z.infer<typeof recordingRuleSchema>;

/** Returns the path of a file or folder under `deploy`. */
export function deployPath(name: string): string {
  return fileURLToPath(new URL(`../../../deploy/${name}`, import.meta.url));
}

/** Reads a file under `deploy`. */
export function readDeployFile(name: string): string {
  return readFileSync(deployPath(name), 'utf8');
}

/** Lists the paths of the YAML files in a folder under `deploy`, relative to `deploy`. */
export function listDeployYaml(folder: string): readonly string[] {
  return readdirSync(deployPath(folder))
    .filter((name) => name.endsWith('.yml'))
    .toSorted()
    .map((name) => `${folder}/${name}`);
}

/** Parses a file of rules for Prometheus. Throws if it is invalid. */
export function parseRuleGroups(text: string): z.infer<typeof ruleFileSchema>['groups'] {
  return ruleFileSchema.parse(parse(text)).groups;
}

/** Reads the shipped groups of rules for Prometheus. */
export function readRuleGroups(): z.infer<typeof ruleFileSchema>['groups'] {
  return listDeployYaml('prometheus/rules').flatMap((name) => parseRuleGroups(readDeployFile(name)));
}

/** Reads all shipped rules for Prometheus. */
export function readRules(): readonly (AlertRule | RecordingRule)[] {
  return readRuleGroups().flatMap(({ rules }) => rules);
}

/** Reads the shipped alerting rules. */
export function readAlertRules(): readonly AlertRule[] {
  return readRules().flatMap((rule) => ('alert' in rule ? [rule] : []));
}

/** Reads the shipped recording rules. */
export function readRecordingRules(): readonly RecordingRule[] {
  return readRules().flatMap((rule) => ('record' in rule ? [rule] : []));
}

/** Reads the PromQL blocks of the runbook. */
export function readRunbookQueries(
  text: string = readDeployFile('prometheus/runbook.md'),
): readonly string[] {
  return [...text.matchAll(/^```promql\n([^`]*)^```$/gm)].map((match) => match[1]?.trim() ?? '');
}
