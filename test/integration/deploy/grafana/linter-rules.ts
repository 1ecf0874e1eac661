import { ALERT_SERIES } from '../../../../deploy/grafana/source/queries.ts';
import {
  listExpressions,
  interpolate,
  parseLabelValues,
  type Dashboard,
  type Variable,
} from '../../../support/grafana.ts';
import { replaceDurations, parseSelectors } from '../../../support/promql.ts';
import {
  listQueryVariables,
  violationIf,
  PLACEHOLDER_VALUES,
  listDataPanels,
  type DashboardRule,
} from './dashboard-rule.ts';

/** Units of Grafana that the dashboards use. Grafana shows a misspelt unit as text. */
const UNITS: ReadonlySet<string> = new Set([
  'bps',
  'bytes',
  'decbytes',
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

const ALERTS: ReadonlySet<string> = new Set(Object.values(ALERT_SERIES));
/** Variables whose All value does not match series without the label. */
const TARGET_VARIABLES: ReadonlySet<string> = new Set(['job', 'instance']);

/**
 * The rules of grafana/dashboard-linter, under its names, with two differences. The All value of `job` must not be `.+`,
 * which would match `up` and `process_…` of every other job. Dashboards must be editable, so that rule is missing.
 */
export const LINTER_RULES: Readonly<Record<string, DashboardRule>> = {
  'template-datasource-rule': ({ templating: { list } }) => {
    const [first] = list;
    const isRight =
      first?.name === 'datasource' &&
      first.type === 'datasource' &&
      first.query === 'prometheus' &&
      first.label === 'Data source';
    return violationIf(!isRight, 'the first variable is not a Prometheus data source');
  },

  'template-job-rule': (dashboard) => {
    const job = findVariable(dashboard, 'job');
    return violationIf(
      !isMultiValueVariable(job, 'Job') || job?.allValue !== undefined,
      'variable job is missing or invalid',
    );
  },

  'template-instance-rule': (dashboard) => {
    const instance = findVariable(dashboard, 'instance');
    return violationIf(
      !isMultiValueVariable(instance, 'Instance') || instance?.allValue !== '.+',
      'variable instance is missing or invalid',
    );
  },

  'template-label-promql-rule': (dashboard) =>
    listQueryVariables(dashboard).flatMap(({ query }) =>
      catchMessage(() => parseSelectors(interpolate(parseLabelValues(query).selector, PLACEHOLDER_VALUES))),
    ),

  'template-on-time-change-reload-rule': (dashboard) =>
    listQueryVariables(dashboard).flatMap(({ name, refresh }) =>
      violationIf(refresh !== 2, `${name} is not refreshed when the time range changes`),
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
      violationIf(!isDashboardDataSource(source), `${title} does not use the data source variable`),
    ),

  'panel-title-description-rule': (dashboard) =>
    dashboard.panels.flatMap(({ type, id, title = '', description = '' }) =>
      violationIf(
        title === '' || (type !== 'row' && description === ''),
        `panel ${id} has no title or description`,
      ),
    ),

  'panel-units-rule': (dashboard) =>
    listDataPanels(dashboard).flatMap(({ title, fieldConfig }) => {
      const overridden = fieldConfig?.overrides.flatMap(({ properties }) =>
        properties.filter(({ id }) => id === 'unit').map(({ value }) => String(value)),
      );
      return [fieldConfig?.defaults.unit ?? '', ...(overridden ?? [])].flatMap((unit) =>
        violationIf(
          !UNITS.has(unit) && !unit.startsWith('suffix:'),
          `${title} has the unknown unit "${unit}"`,
        ),
      );
    }),

  'panel-no-targets-rule': (dashboard) =>
    listDataPanels(dashboard).flatMap(({ title, targets }) =>
      violationIf(targets.length === 0, `${title} has no targets`),
    ),

  'target-promql-rule': (dashboard) =>
    listExpressions(dashboard).flatMap(({ expr }) =>
      catchMessage(() => parseSelectors(interpolate(expr, PLACEHOLDER_VALUES))),
    ),

  'target-rate-interval-rule': (dashboard) =>
    listExpressions(dashboard).flatMap(({ location, expr }) => {
      const strange = listDurations(expr).filter(
        (duration) => ![PLACEHOLDER_VALUES.__rate_interval, PLACEHOLDER_VALUES.__range].includes(duration),
      );
      return violationIf(strange.length > 0, `${location} has a range of ${strange.join(', ')}`);
    }),

  'target-job-rule': (dashboard) => findUnmatchedSelectors(dashboard, 'job'),

  'target-instance-rule': (dashboard) => findUnmatchedSelectors(dashboard, 'instance'),

  'target-counter-agg-rule': (dashboard) =>
    listExpressions(dashboard).flatMap(({ location, expr }) => {
      const bare = /(?<!\b(?:rate|increase|irate)\()\b\w+_(?:total|bucket|count|sum)\{/.exec(expr);
      const isDifference = expr.includes(' offset $__range');
      return violationIf(
        bare !== null && !isDifference,
        `${location} has a counter outside of rate, increase and a difference`,
      );
    }),

  'legend-rule': (dashboard) =>
    listDataPanels(dashboard).flatMap(({ title, targets }) =>
      targets.flatMap(({ expr, legendFormat = '' }) => {
        const labels = [...legendFormat.matchAll(/\{\{(\w+)\}\}/g)].map(([, label]) => label ?? '');
        // Without an aggregation, results keep every label.
        const missing = labels.filter((label) => / by \(/.test(expr) && !listKeptLabels(expr).has(label));
        return violationIf(
          legendFormat === '' || missing.length > 0,
          `${title} has an empty legend or one with missing labels`,
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

/** Lists the durations of an expression. Returns none if it does not parse; `target-promql-rule` reports that. */
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

/** Finds selectors without a matcher for the variable of this name. Alerts have no labels of a target. */
export function findUnmatchedSelectors(dashboard: Dashboard, name: string): readonly string[] {
  return listExpressions(dashboard).flatMap(({ location, expr }) => {
    const marked = expr.replaceAll(`${name}=~"$${name}"`, 'is_matched="yes"');
    return catchMessage(() => {
      const selectors = parseSelectors(interpolate(marked, PLACEHOLDER_VALUES));
      const isUnmatched = ({ metric, labels }: (typeof selectors)[number]): boolean =>
        !labels.includes('is_matched') && !(ALERTS.has(metric) && TARGET_VARIABLES.has(name));
      if (selectors.some(isUnmatched))
        throw new Error(`${location} has a selector without ${name}=~"$${name}"`);
    });
  });
}

/** Lists the labels that any aggregation of an expression keeps. */
function listKeptLabels(expr: string): ReadonlySet<string> {
  return new Set([...expr.matchAll(/ by \(([^)]*)\)/g)].flatMap(([, labels = '']) => labels.split(', ')));
}
