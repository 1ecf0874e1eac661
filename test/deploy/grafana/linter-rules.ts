import {
  listExpressions,
  interpolate,
  parseLabelValues,
  type Dashboard,
  type Variable,
} from '../../support/grafana.ts';
import { replaceDurations, parseSelectors } from '../../support/promql.ts';
import {
  listQueryVariables,
  violationIf,
  PLACEHOLDER_VALUES,
  listDataPanels,
  type DashboardRule,
} from './dashboard-rule.ts';

/** The units in use, all of them Grafana's; a misspelt one would be shown as text. */
const UNITS: ReadonlySet<string> = new Set([
  'bps',
  'bytes',
  'cpm',
  'locale',
  'none',
  'percentunit',
  's',
  'short',
]);

const isDashboardDataSource = (source: { type: string; uid: string } | undefined): boolean =>
  source?.type === 'prometheus' && source.uid === '${datasource}';
const findVariable = ({ templating }: Dashboard, name: string): Variable | undefined =>
  templating.list.find((variable) => variable.name === name);

/**
 * The rules of grafana/dashboard-linter, under its names. One is turned round: All of `job` is the list of its values
 * rather than `.+`, which would take in `up` and `process_…` of every other job. One is left out: users may edit these
 * dashboards.
 */
export const LINTER_RULES: Readonly<Record<string, DashboardRule>> = {
  'template-datasource-rule': ({ templating: { list } }) => {
    const [first] = list;
    const isRight =
      first?.name === 'datasource' &&
      first.type === 'datasource' &&
      first.query === 'prometheus' &&
      first.label === 'Data source';
    return violationIf(!isRight, 'the first variable is no data source of Prometheus');
  },

  'template-job-rule': (dashboard) => {
    const job = findVariable(dashboard, 'job');
    return violationIf(
      !isMultiValueVariable(job, 'Job') || job?.allValue !== undefined,
      'no proper variable job',
    );
  },

  'template-instance-rule': (dashboard) => {
    const instance = findVariable(dashboard, 'instance');
    return violationIf(
      !isMultiValueVariable(instance, 'Instance') || instance?.allValue !== '.+',
      'no proper variable instance',
    );
  },

  'template-label-promql-rule': (dashboard) =>
    listQueryVariables(dashboard).flatMap(({ query }) =>
      catchMessage(() => parseSelectors(interpolate(parseLabelValues(query).selector, PLACEHOLDER_VALUES))),
    ),

  'template-on-time-change-reload-rule': (dashboard) =>
    listQueryVariables(dashboard).flatMap(({ name, refresh }) =>
      violationIf(refresh !== 2, `${name} is not read anew`),
    ),

  'panel-datasource-rule': (dashboard) =>
    [
      ...listDataPanels(dashboard).flatMap(({ title, datasource, targets }) =>
        [datasource, ...targets.map((target) => target.datasource)].map((source) => ({ title, source })),
      ),
      ...dashboard.annotations.list
        .filter(({ builtIn }) => builtIn !== 1)
        .map(({ name, datasource }) => ({ title: name, source: datasource })),
      ...listQueryVariables(dashboard).map(({ name, datasource }) => ({ title: name, source: datasource })),
    ].flatMap(({ title, source }) =>
      violationIf(!isDashboardDataSource(source), `${title} asks another data source`),
    ),

  'panel-title-description-rule': (dashboard) =>
    dashboard.panels.flatMap(({ type, id, title = '', description = '' }) =>
      violationIf(title === '' || (type !== 'row' && description === ''), `panel ${id} says too little`),
    ),

  'panel-units-rule': (dashboard) =>
    listDataPanels(dashboard).flatMap(({ title, fieldConfig }) => {
      const overridden = fieldConfig?.overrides.flatMap(({ properties }) =>
        properties.filter(({ id }) => id === 'unit').map(({ value }) => String(value)),
      );
      return [fieldConfig?.defaults.unit ?? '', ...(overridden ?? [])].flatMap((unit) =>
        violationIf(!UNITS.has(unit), `${title} has no unit such as "${unit}"`),
      );
    }),

  'panel-no-targets-rule': (dashboard) =>
    listDataPanels(dashboard).flatMap(({ title, targets }) =>
      violationIf(targets.length === 0, `${title} asks nothing`),
    ),

  'target-promql-rule': (dashboard) =>
    listExpressions(dashboard).flatMap(({ expr }) =>
      catchMessage(() => parseSelectors(interpolate(expr, PLACEHOLDER_VALUES))),
    ),

  'target-rate-interval-rule': (dashboard) =>
    listExpressions(dashboard).flatMap(({ location, expr }) => {
      const strange = listDurations(expr).filter(
        (duration) => duration !== PLACEHOLDER_VALUES.__rate_interval,
      );
      return violationIf(strange.length > 0, `${location} has a range of ${strange.join(', ')}`);
    }),

  'target-job-rule': (dashboard) => findUnmatchedSelectors(dashboard, 'job'),

  'target-instance-rule': (dashboard) => findUnmatchedSelectors(dashboard, 'instance'),

  'target-counter-agg-rule': (dashboard) =>
    listExpressions(dashboard).flatMap(({ location, expr }) => {
      const bare = /(?<!\b(?:rate|increase|irate)\()\b\w+_(?:total|bucket|count|sum)\{/.exec(expr);
      return violationIf(bare !== null, `${location} has a counter outside of rate and increase`);
    }),

  'legend-rule': (dashboard) =>
    listDataPanels(dashboard).flatMap(({ title, targets }) =>
      targets.flatMap(({ expr, legendFormat = '' }) => {
        const labels = [...legendFormat.matchAll(/\{\{(\w+)\}\}/g)].map(([, label]) => label ?? '');
        // Without an aggregation every label is there.
        const missing = labels.filter((label) => / by \(/.test(expr) && !listKeptLabels(expr).has(label));
        return violationIf(
          legendFormat === '' || missing.length > 0,
          `${title} has a legend without a value`,
        );
      }),
    ),
};

function isMultiValueVariable(variable: Variable | undefined, label: string): boolean {
  return (
    variable?.type === 'query' &&
    variable.label === label &&
    variable.multi === true &&
    variable.includeAll === true
  );
}

function catchMessage(parse: () => unknown): readonly string[] {
  try {
    parse();
    return [];
  } catch (error) {
    return [error instanceof Error ? error.message : String(error)];
  }
}

/** The durations of an expression; none of one that does not parse, about which another rule complains. */
function listDurations(expr: string): readonly string[] {
  const durations: string[] = [];
  catchMessage(() =>
    replaceDurations(interpolate(expr, PLACEHOLDER_VALUES), (duration) => {
      durations.push(duration);
      return duration;
    }),
  );
  return durations;
}

/** Complains of selectors that are not matched by the variable of this name. */
export function findUnmatchedSelectors(dashboard: Dashboard, name: string): readonly string[] {
  return listExpressions(dashboard).flatMap(({ location, expr }) => {
    const marked = expr.replaceAll(`${name}=~"$${name}"`, 'is_matched="yes"');
    return catchMessage(() => {
      const selectors = parseSelectors(interpolate(marked, PLACEHOLDER_VALUES));
      if (selectors.some(({ labels }) => !labels.includes('is_matched')))
        throw new Error(`${location} has a selector without ${name}=~"$${name}"`);
    });
  });
}

/** The labels that some aggregation of an expression keeps. */
function listKeptLabels(expr: string): ReadonlySet<string> {
  return new Set([...expr.matchAll(/ by \(([^)]*)\)/g)].flatMap(([, labels = '']) => labels.split(', ')));
}
