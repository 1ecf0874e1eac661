import {
  expressionsOf,
  interpolate,
  parseLabelValues,
  type Dashboard,
  type Variable,
} from '../../support/grafana.ts';
import { replaceDurations, selectorsOf } from '../../support/promql.ts';
import { queried, said, STAND_INS, withData, type Rule } from './rule.ts';

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

const isSource = (source: { type: string; uid: string } | undefined): boolean =>
  source?.type === 'prometheus' && source.uid === '${datasource}';
const named = ({ templating }: Dashboard, name: string): Variable | undefined =>
  templating.list.find((variable) => variable.name === name);

/**
 * The rules of grafana/dashboard-linter, under its names. One is turned round: All of `job` is the list of its values
 * rather than `.+`, which would take in `up` and `process_…` of every other job.
 */
export const LINTER_RULES: Readonly<Record<string, Rule>> = {
  'template-datasource-rule': ({ templating: { list } }) => {
    const [first] = list;
    const isRight =
      first?.name === 'datasource' &&
      first.type === 'datasource' &&
      first.query === 'prometheus' &&
      first.label === 'Data source';
    return said(!isRight, 'the first variable is no data source of Prometheus');
  },

  'template-job-rule': (dashboard) => {
    const job = named(dashboard, 'job');
    return said(!isChoice(job, 'Job') || job?.allValue !== undefined, 'no proper variable job');
  },

  'template-instance-rule': (dashboard) => {
    const instance = named(dashboard, 'instance');
    return said(
      !isChoice(instance, 'Instance') || instance?.allValue !== '.+',
      'no proper variable instance',
    );
  },

  'template-label-promql-rule': (dashboard) =>
    queried(dashboard).flatMap(({ query }) =>
      complaintOf(() => selectorsOf(interpolate(parseLabelValues(query).selector, STAND_INS))),
    ),

  'template-on-time-change-reload-rule': (dashboard) =>
    queried(dashboard).flatMap(({ name, refresh }) => said(refresh !== 2, `${name} is not read anew`)),

  'panel-datasource-rule': (dashboard) =>
    [
      ...withData(dashboard).flatMap(({ title, datasource, targets }) =>
        [datasource, ...targets.map((target) => target.datasource)].map((source) => ({ title, source })),
      ),
      ...dashboard.annotations.list
        .filter(({ builtIn }) => builtIn !== 1)
        .map(({ name, datasource }) => ({ title: name, source: datasource })),
      ...queried(dashboard).map(({ name, datasource }) => ({ title: name, source: datasource })),
    ].flatMap(({ title, source }) => said(!isSource(source), `${title} asks another data source`)),

  'panel-title-description-rule': (dashboard) =>
    dashboard.panels.flatMap(({ type, id, title = '', description = '' }) =>
      said(title === '' || (type !== 'row' && description === ''), `panel ${id} says too little`),
    ),

  'panel-units-rule': (dashboard) =>
    withData(dashboard).flatMap(({ title, fieldConfig }) => {
      const overridden = fieldConfig?.overrides.flatMap(({ properties }) =>
        properties.filter(({ id }) => id === 'unit').map(({ value }) => String(value)),
      );
      return [fieldConfig?.defaults.unit ?? '', ...(overridden ?? [])].flatMap((unit) =>
        said(!UNITS.has(unit), `${title} has no unit such as "${unit}"`),
      );
    }),

  'panel-no-targets-rule': (dashboard) =>
    withData(dashboard).flatMap(({ title, targets }) => said(targets.length === 0, `${title} asks nothing`)),

  'target-promql-rule': (dashboard) =>
    expressionsOf(dashboard).flatMap(({ expr }) =>
      complaintOf(() => selectorsOf(interpolate(expr, STAND_INS))),
    ),

  'target-rate-interval-rule': (dashboard) =>
    expressionsOf(dashboard).flatMap(({ place, expr }) => {
      const strange = durationsOf(expr).filter((duration) => duration !== STAND_INS.__rate_interval);
      return said(strange.length > 0, `${place} has a range of ${strange.join(', ')}`);
    }),

  'target-job-rule': (dashboard) => unmatched(dashboard, 'job'),

  'target-instance-rule': (dashboard) => unmatched(dashboard, 'instance'),

  'target-counter-agg-rule': (dashboard) =>
    expressionsOf(dashboard).flatMap(({ place, expr }) => {
      const bare = /(?<!\b(?:rate|increase|irate)\()\b\w+_(?:total|bucket|count|sum)\{/.exec(expr);
      return said(bare !== null, `${place} has a counter outside of rate and increase`);
    }),

  'uneditable-dashboard-rule': ({ editable }) => said(editable, 'it can be edited'),

  'legend-rule': (dashboard) =>
    withData(dashboard).flatMap(({ title, targets }) =>
      targets.flatMap(({ expr, legendFormat = '' }) => {
        const labels = [...legendFormat.matchAll(/\{\{(\w+)\}\}/g)].map(([, label]) => label ?? '');
        // Without an aggregation every label is there.
        const missing = labels.filter((label) => / by \(/.test(expr) && !kept(expr).has(label));
        return said(legendFormat === '' || missing.length > 0, `${title} has a legend without a value`);
      }),
    ),
};

function isChoice(variable: Variable | undefined, label: string): boolean {
  return (
    variable?.type === 'query' &&
    variable.label === label &&
    variable.multi === true &&
    variable.includeAll === true
  );
}

function complaintOf(parse: () => unknown): readonly string[] {
  try {
    parse();
    return [];
  } catch (error) {
    return [error instanceof Error ? error.message : String(error)];
  }
}

/** The durations of an expression; none of one that does not parse, about which another rule complains. */
function durationsOf(expr: string): readonly string[] {
  const durations: string[] = [];
  complaintOf(() =>
    replaceDurations(interpolate(expr, STAND_INS), (duration) => {
      durations.push(duration);
      return duration;
    }),
  );
  return durations;
}

/** Complains of selectors that are not matched by the variable of this name. */
function unmatched(dashboard: Dashboard, name: string): readonly string[] {
  return expressionsOf(dashboard).flatMap(({ place, expr }) => {
    const marked = expr.replaceAll(`${name}=~"$${name}"`, 'is_matched="yes"');
    return complaintOf(() => {
      const selectors = selectorsOf(interpolate(marked, STAND_INS));
      if (selectors.some(({ labels }) => !labels.includes('is_matched')))
        throw new Error(`${place} has a selector without ${name}=~"$${name}"`);
    });
  });
}

/** The labels that some aggregation of an expression keeps. */
function kept(expr: string): ReadonlySet<string> {
  return new Set([...expr.matchAll(/ by \(([^)]*)\)/g)].flatMap(([, labels = '']) => labels.split(', ')));
}
