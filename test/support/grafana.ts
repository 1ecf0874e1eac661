import { readdirSync, readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { z } from 'zod';

const source = z.looseObject({ type: z.string(), uid: z.string() });

const target = z.looseObject({
  refId: z.string().optional(),
  expr: z.string(),
  legendFormat: z.string().optional(),
  instant: z.boolean().optional(),
  format: z.string().optional(),
  datasource: source.optional(),
});

const override = z.looseObject({
  matcher: z.looseObject({ options: z.unknown() }).optional(),
  properties: z.array(z.looseObject({ id: z.string(), value: z.unknown() })),
});

const panel = z.looseObject({
  id: z.number().optional(),
  type: z.string(),
  title: z.string().optional(),
  description: z.string().optional(),
  datasource: source.optional(),
  gridPos: z.object({ x: z.number(), y: z.number(), w: z.number(), h: z.number() }),
  targets: z.array(target).default([]),
  options: z
    .looseObject({
      legend: z
        .looseObject({
          calcs: z.array(z.string()),
          sortBy: z.string().optional(),
          sortDesc: z.boolean().optional(),
        })
        .optional(),
    })
    .optional(),
  fieldConfig: z
    .looseObject({
      defaults: z.looseObject({
        unit: z.string().optional(),
        noValue: z.string().optional(),
        thresholds: z.unknown().optional(),
      }),
      overrides: z.array(override),
    })
    .optional(),
});

const variable = z.looseObject({
  name: z.string(),
  type: z.string(),
  label: z.string().optional(),
  query: z.string(),
  datasource: source.optional(),
  multi: z.boolean().optional(),
  includeAll: z.boolean().optional(),
  allValue: z.string().optional(),
  hide: z.number().optional(),
  refresh: z.number().optional(),
});

const annotation = z.looseObject({
  name: z.string(),
  builtIn: z.number().optional(),
  datasource: source.optional(),
  expr: z.string().optional(),
});

const dashboard = z.looseObject({
  uid: z.string().optional(),
  title: z.string(),
  description: z.string().optional(),
  tags: z.array(z.string()).default([]),
  editable: z.boolean(),
  schemaVersion: z.number(),
  panels: z.array(panel),
  templating: z.object({ list: z.array(variable) }),
  annotations: z.object({ list: z.array(annotation) }),
  links: z
    .array(
      z.looseObject({
        type: z.string(),
        tags: z.array(z.string()),
        includeVars: z.boolean(),
        keepTime: z.boolean(),
      }),
    )
    .default([]),
});

/** A dashboard in the form of its file. Fields that the tests do not use are untyped. */
export type Dashboard = z.output<typeof dashboard>;
export type Panel = z.output<typeof panel>;
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

/** Matches a variable of Grafana: `$name`, `${name}` or `${name:format}`. */
const VARIABLE = /\$(\w+)|\$\{(\w+)(?::\w+)?\}/g;

/** Finds the names of the variables in a text. */
export function findVariables(text: string): ReadonlySet<string> {
  return new Set([...text.matchAll(VARIABLE)].map(([, plain, braced]) => plain ?? braced ?? ''));
}

/** Replaces variables by their values, as Grafana does before a query. Throws if one has no value. */
export function interpolate(text: string, values: Readonly<Record<string, string>>): string {
  return text.replaceAll(VARIABLE, (match, plain?: string, braced?: string) => {
    const value = values[plain ?? braced ?? ''];
    if (value === undefined) throw new Error(`Expected a known variable, found ${match} in ${text}`);
    return value;
  });
}

/** Values of the dashboards' variables with All selected; the interval depends on how often Prometheus scrapes. */
export const ALL_SELECTED = {
  cluster: '.*',
  namespace: '.*',
  job: 'xvs-exporter',
  instance: '.+',
  service_code: '.+',
  vs_id: '.+',
  task_id: '.+',
};
