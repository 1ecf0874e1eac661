import {
  DashboardBuilder,
  DashboardCursorSync,
  DashboardLinkBuilder,
  DashboardLinkType,
  RowBuilder,
  type Dashboard,
  type Panel,
} from '@grafana/grafana-foundation-sdk/dashboard';
import type { Builder } from '@grafana/grafana-foundation-sdk/cog';
import { annotations } from './annotations.ts';
import { createVariables } from './variables.ts';
import { SCOPE, type Filter } from './queries.ts';

/** Selects the dashboards of the exporter for the links between them. */
const TAG = 'xvs-exporter';

/** A row of panels. The first one has no title. */
interface Section {
  readonly title?: string;
  readonly panels: readonly Builder<Panel>[];
}

export interface DashboardSpec {
  /** Fixed, so that links and bookmarks survive an upgrade. */
  readonly uid: string;
  readonly title: string;
  readonly description: string;
  readonly filters: readonly Filter[];
  readonly sections: readonly Section[];
  /** Initial time range until now, such as `3h`. */
  readonly span: string;
}

/** Builds a dashboard and numbers its panels, which the builders do not. */
export function buildDashboard(board: DashboardSpec): Dashboard {
  const builder = new DashboardBuilder(`xvs-exporter / ${board.title}`)
    .uid(board.uid)
    .description(board.description)
    .tags([TAG])
    .editable()
    .timezone('browser')
    .tooltip(DashboardCursorSync.Crosshair)
    .time({ from: `now-${board.span}`, to: 'now' })
    .refresh('30s')
    .link(createDashboardLinks());
  for (const variable of createVariables(board.filters)) builder.withVariable(variable);
  for (const annotation of annotations()) builder.annotation(annotation);
  for (const { title, panels } of board.sections) {
    if (title !== undefined) builder.withRow(new RowBuilder(title));
    for (const panel of panels) builder.withPanel(panel);
  }
  return finalizeDashboard(builder.build());
}

/** Links to every dashboard with the tag, keeping time range and variables. */
function createDashboardLinks(): DashboardLinkBuilder {
  return new DashboardLinkBuilder('xvs-exporter')
    .type(DashboardLinkType.Dashboards)
    .tags([TAG])
    .icon('external link')
    .includeVars(true)
    .keepTime(true);
}

/**
 * Defaults that the builders set: `placement` would hide links and annotations in a menu, the others only lengthen the
 * files.
 */
const REMOVED_KEYS: ReadonlySet<string> = new Set([
  'placement',
  'repeatDirection',
  'auto',
  'auto_min',
  'auto_count',
]);

function finalizeDashboard(dashboard: Dashboard): Dashboard {
  const without = <T extends object>(object: T): T => {
    for (const key of REMOVED_KEYS) Reflect.deleteProperty(object, key);
    return object;
  };
  dashboard.links?.forEach(without);
  dashboard.annotations.list?.forEach(without);
  dashboard.templating.list?.forEach(without);
  dashboard.panels?.forEach((panel, index) => Object.assign(without(panel), { id: index + 1 }));
  return dashboard;
}

/** A link from a table cell to another dashboard, with the value of the cell as a variable; keeps time and scope. */
export function createLink(uid: string, title: string, variable: Filter) {
  const kept = ['__url_time_range', ...['datasource', ...SCOPE].map((name) => `${name}:queryparam`)];
  const query = kept.map((name) => `\${${name}}`).join('&');
  return { title, url: `/d/${uid}?${query}&var-${variable}=\${__value.raw}` };
}

export const UIDS = {
  overview: 'xvs-overview',
  serviceCode: 'xvs-service-code',
  server: 'xvs-server',
  clients: 'xvs-clients',
  exporter: 'xvs-exporter',
  task: 'xvs-task',
} as const;
