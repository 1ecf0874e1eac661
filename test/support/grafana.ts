import { readdirSync, readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { z } from 'zod';

const override = z.looseObject({
  properties: z.array(z.looseObject({ id: z.string(), value: z.unknown() })),
});

const panel = z.looseObject({
  id: z.number().optional(),
  type: z.string(),
  title: z.string().optional(),
  gridPos: z.looseObject({ w: z.number() }).optional(),
  description: z.string().optional(),
  targets: z
    .array(
      z.looseObject({
        refId: z.string().optional(),
        expr: z.string(),
        instant: z.boolean().optional(),
        legendFormat: z.string().optional(),
      }),
    )
    .default([]),
  fieldConfig: z
    .looseObject({
      defaults: z.looseObject({ unit: z.string().optional(), noValue: z.string().optional() }),
      overrides: z.array(override),
    })
    .optional(),
});

const variable = z.looseObject({
  name: z.string(),
  type: z.string(),
  query: z.string(),
  hide: z.number().optional(),
});

const annotation = z.looseObject({
  name: z.string(),
  expr: z.string().optional(),
});

const dashboard = z.looseObject({
  uid: z.string().optional(),
  /** Those in collapsed rows included. */
  panels: z
    .array(panel.extend({ panels: z.array(panel).default([]) }))
    .transform((panels) => panels.flatMap(({ panels: inner, ...outer }) => [outer, ...inner])),
  templating: z.object({ list: z.array(variable) }),
  annotations: z.object({ list: z.array(annotation) }),
});

/** A dashboard in the form of its file. Fields that the tests do not use are untyped. */
export type Dashboard = z.output<typeof dashboard>;
export type Variable = z.output<typeof variable>;

/** Parses a dashboard. Throws if it is invalid. */
export function parseDashboard(text: string): Dashboard {
  return dashboard.parse(JSON.parse(text));
}

const FOLDER = fileURLToPath(new URL('../../../deploy/grafana/dashboards/', import.meta.url));

/** Reads the committed dashboards by file name. */
export function readCommittedDashboards(): ReadonlyMap<string, Dashboard> {
  return new Map(
    readdirSync(FOLDER).map((name) => [name, parseDashboard(readFileSync(`${FOLDER}${name}`, 'utf8'))]),
  );
}

/** Finds a panel of the committed dashboards. Throws if there is none. */
export function findPanel(uid: string, title: string, type: string): Dashboard['panels'][number] {
  const panels = readCommittedDashboards().get(`${uid}.json`)?.panels ?? [];
  const found = panels.find((candidate) => candidate.title === title && candidate.type === type);
  if (found === undefined) throw new Error(`Expected a ${type} ${title} in ${uid}, found none`);
  return found;
}

/** An expression of a dashboard and its location. */
export interface Expression {
  readonly location: string;
  readonly expr: string;
}

/** Lists the expressions of a dashboard's panels and annotations. */
export function listExpressions({ uid, panels, annotations }: Dashboard): readonly Expression[] {
  return [
    ...panels.flatMap(({ title, targets }) =>
      targets.map(({ refId, expr }) => ({ location: `${uid} / ${title} / ${refId}`, expr })),
    ),
    ...annotations.list.flatMap(({ name, expr }) =>
      expr === undefined ? [] : [{ location: `${uid} / annotation ${name}`, expr }],
    ),
  ];
}

/** The query of a variable: a label of the series that a selector matches. */
export interface LabelValues {
  readonly selector: string;
  readonly label: string;
}

/** Parses `label_values(selector, label)`. Throws if it is anything else. */
export function parseLabelValues(query: string): LabelValues {
  const { selector, label } = /^label_values\((?<selector>.+), (?<label>\w+)\)$/.exec(query)?.groups ?? {};
  if (selector === undefined || label === undefined) {
    throw new SyntaxError(`Expected label_values(selector, label), found ${query}`);
  }
  return { selector, label };
}

/** Parses `query_result(expression)`, the query of the variable `job`. Throws if it is anything else. */
export function parseQueryResult(query: string): string {
  const { expression } = /^query_result\((?<expression>.+)\)$/.exec(query)?.groups ?? {};
  if (expression === undefined) throw new SyntaxError(`Expected query_result(expression), found ${query}`);
  return expression;
}

/** Matches a variable of Grafana: `$name`, `${name}` or `${name:format}`; not `$1` of `label_replace`. */
const VARIABLE = /\$([a-z_]\w*)|\$\{(\w+)(?::\w+)?\}/gi;

/** Replaces variables by their values, as Grafana does before a query. Throws if one has no value. */
export function interpolate(text: string, values: Readonly<Record<string, string>>): string {
  return text.replaceAll(VARIABLE, (match, plain?: string, braced?: string) => {
    const value = values[plain ?? braced ?? ''];
    if (value === undefined) throw new Error(`Expected a known variable, found ${match} in ${text}`);
    return value;
  });
}

/**
 * Values of the dashboards' variables with All selected; the interval depends on how often Prometheus
 * scrapes.
 */
export const ALL_SELECTED = {
  __interval: '15s',
  cluster: '.*',
  namespace: '.*',
  job: 'xvs-exporter',
  instance: '.+',
  service_code: '.+',
  vs_id: '.+',
  task_id: '.+',
};
