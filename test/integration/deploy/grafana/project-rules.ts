import { SHARED_LABELS } from '../../../../deploy/grafana/source/queries.ts';
import { TAG } from '../../../../deploy/grafana/source/dashboard-builder.ts';
import { listExpressions, findVariables, type Panel } from '../../../support/grafana.ts';
import { listQueryVariables, violationIf, listDataPanels, type DashboardRule } from './dashboard-rule.ts';
import { findUnmatchedSelectors } from './linter-rules.ts';

/** Dashboard rules of this project, in addition to those of the linter. */
export const PROJECT_RULES: Readonly<Record<string, DashboardRule>> = {
  'a dashboard has a fixed uid, the tag and the schema version': ({ uid = '', tags, schemaVersion }) =>
    violationIf(
      !/^xvs-[a-z-]+$/.test(uid) || !tags.includes(TAG) || schemaVersion !== 42,
      'uid, tag or schema version is missing',
    ),

  'users can edit a dashboard': ({ editable }) => violationIf(!editable, 'users cannot edit it'),

  'cluster and namespace are hidden variables': ({ templating }) =>
    ['cluster', 'namespace'].flatMap((name) => {
      const variable = templating.list.find((candidate) => candidate.name === name);
      return violationIf(variable?.hide !== 2 || variable.allValue !== '.*', `no hidden variable ${name}`);
    }),

  'every selector matches cluster and namespace': (dashboard) => [
    ...findUnmatchedSelectors(dashboard, 'cluster'),
    ...findUnmatchedSelectors(dashboard, 'namespace'),
  ],

  'no aggregation or join merges the codes, servers or exporters of two clusters or namespaces': (
    dashboard,
  ) =>
    listExpressions(dashboard).flatMap(({ location, expr }) =>
      [...expr.matchAll(/ (?:by|on) \(([^)]+)\)/g)]
        .map(([, labels = '']) => labels.split(', '))
        .filter((labels) => labels.some((label) => SHARED_LABELS.has(label)))
        .filter((labels) => !labels.includes('cluster') || !labels.includes('namespace'))
        .map((labels) => `${location} merges clusters or namespaces by ${labels.join(', ')}`),
    ),

  'a legend with values is sorted by value': (dashboard) =>
    listDataPanels(dashboard).flatMap(({ title, options }) => {
      const { calcs = [], sortBy, sortDesc } = options?.legend ?? {};
      return violationIf(
        calcs.length > 0 && (sortBy !== 'Last *' || sortDesc !== true),
        `${title} is not sorted`,
      );
    }),

  'ages are in seconds': (dashboard) =>
    listDataPanels(dashboard).flatMap(({ title = '', fieldConfig }) => {
      const columns = (fieldConfig?.overrides ?? []).map(({ matcher, properties }) => ({
        name: matcher?.options,
        unit: properties.find(({ id }) => id === 'unit')?.value,
      }));
      return [{ name: title, unit: fieldConfig?.defaults.unit }, ...columns]
        .filter(({ name, unit }) => / age$|^Age /.test(String(name)) && unit !== 's')
        .map(({ name }) => `${title}: ${String(name)} is not in seconds`);
    }),

  'a dashboard links to the others and keeps time and variables': ({ links }) =>
    violationIf(
      !links.some(
        ({ type, tags, includeVars, keepTime }) =>
          type === 'dashboards' && tags.includes(TAG) && includeVars && keepTime,
      ),
      'no link by tag',
    ),

  'panel ids are unique': ({ panels }) => {
    const ids = new Set(panels.map(({ id }) => id));
    return violationIf(
      ids.size < panels.length || ids.has(undefined) || ids.has(0),
      'panel ids are not unique',
    );
  },

  'refIds of the targets of a panel are unique': (dashboard) =>
    listDataPanels(dashboard).flatMap(({ title, targets }) => {
      const refIds = new Set(targets.map(({ refId }) => refId));
      const areUnique = refIds.size === targets.length && !refIds.has(undefined) && !refIds.has('');
      return violationIf(!areUnique, `${title} has targets with the same refId`);
    }),

  'no panel overlaps another or exceeds the grid': ({ panels }) =>
    panels.flatMap((panel, index) => {
      const { x, w, h } = panel.gridPos;
      const isOutside = x < 0 || w < 1 || h < 1 || x + w > 24;
      const covered = panels.slice(0, index).find((other) => isOverlapping(panel, other));
      return violationIf(
        isOutside || covered !== undefined,
        `${panel.title} overlaps another panel or exceeds the grid`,
      );
    }),

  'a panel has a text for missing data': (dashboard) =>
    listDataPanels(dashboard).flatMap(({ title, fieldConfig }) =>
      violationIf((fieldConfig?.defaults.noValue ?? '') === '', `${title} has no noValue text`),
    ),

  'a status panel has thresholds': (dashboard) =>
    listDataPanels(dashboard)
      .filter(({ type }) => ['stat', 'state-timeline', 'gauge'].includes(type))
      .flatMap(({ title, fieldConfig }) =>
        violationIf(fieldConfig?.defaults.thresholds === undefined, `${title} has no thresholds`),
      ),

  'every defined variable is used, and every used one is defined': (dashboard) => {
    const texts = [
      ...listExpressions(dashboard).map(({ expr }) => expr),
      ...listQueryVariables(dashboard).map(({ query }) => query),
      '${datasource}',
    ];
    const used = new Set(texts.flatMap((text) => [...findVariables(text)]));
    const defined = new Set(dashboard.templating.list.map(({ name }) => name));
    return [
      ...[...used].filter((name) => !name.startsWith('__') && !defined.has(name)),
      ...[...defined].filter((name) => !used.has(name)),
    ].map((name) => `${name} is used or defined, but not both`);
  },

  'annotations show restarts and API failures': ({ annotations: { list } }) => {
    const marks = list.map(({ expr = '' }) => expr).join('\n');
    return violationIf(
      !/process_start_time_seconds/.test(marks) || !/xvs_up/.test(marks),
      'annotations of restarts or API failures are missing',
    );
  },
};

function isOverlapping({ gridPos: a }: Panel, { gridPos: b }: Panel): boolean {
  return a.x < b.x + b.w && b.x < a.x + a.w && a.y < b.y + b.h && b.y < a.y + a.h;
}
