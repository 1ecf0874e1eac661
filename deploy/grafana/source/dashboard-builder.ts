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
import { variablesOf } from './variables.ts';
import type { Filter } from './queries.ts';

/** Finds the dashboards of the exporter, for the links between them. */
export const TAG = 'xvs-exporter';

/** A strip of panels with a title, or the first one, without. */
interface Section {
  readonly title?: string;
  readonly panels: readonly Builder<Panel>[];
}

export interface Board {
  /** Fixed, so that links and bookmarks survive an upgrade. */
  readonly uid: string;
  readonly title: string;
  readonly description: string;
  readonly filters: readonly Filter[];
  readonly sections: readonly Section[];
  /** Time range to begin with: from so long ago until now. */
  readonly span: string;
}

/** The dashboard of a board, complete: the builders number no panels. */
export function dashboardOf(board: Board): Dashboard {
  const builder = new DashboardBuilder(`xvs-exporter / ${board.title}`)
    .uid(board.uid)
    .description(board.description)
    .tags([TAG])
    .readonly()
    .timezone('browser')
    .tooltip(DashboardCursorSync.Crosshair)
    .time({ from: `now-${board.span}`, to: 'now' })
    .refresh('30s')
    .link(linkToAll());
  for (const variable of variablesOf(board.filters)) builder.withVariable(variable);
  for (const annotation of annotations()) builder.annotation(annotation);
  for (const { title, panels } of board.sections) {
    if (title !== undefined) builder.withRow(new RowBuilder(title));
    for (const panel of panels) builder.withPanel(panel);
  }
  return completed(builder.build());
}

/** Every dashboard of the tag, with the time range and the variables of this one. */
function linkToAll(): DashboardLinkBuilder {
  return new DashboardLinkBuilder('xvs-exporter')
    .type(DashboardLinkType.Dashboards)
    .tags([TAG])
    .icon('external link')
    .includeVars(true)
    .keepTime(true);
}

/**
 * What the builders set although nobody asked for it, and that would be seen: a `placement` that hides links and
 * annotations in a menu. The rest is noise.
 */
const UNWANTED: ReadonlySet<string> = new Set([
  'placement',
  'repeatDirection',
  'auto',
  'auto_min',
  'auto_count',
]);

function completed(dashboard: Dashboard): Dashboard {
  const without = <T extends object>(object: T): T => {
    for (const key of UNWANTED) Reflect.deleteProperty(object, key);
    return object;
  };
  dashboard.links?.forEach(without);
  dashboard.annotations.list?.forEach(without);
  dashboard.templating.list?.forEach(without);
  dashboard.panels?.forEach((panel, index) => Object.assign(without(panel), { id: index + 1 }));
  return dashboard;
}

/** A link from a table's cell to another dashboard, about what the cell says. */
export function linkTo(uid: string, title: string, variable: Filter) {
  const kept = '${__url_time_range}&${datasource:queryparam}&${job:queryparam}&${instance:queryparam}';
  return { title, url: `/d/${uid}?${kept}&var-${variable}=\${__value.raw}` };
}

/** The fixed addresses of the dashboards. */
export const UIDS = {
  overview: 'xvs-overview',
  serviceCode: 'xvs-service-code',
  server: 'xvs-server',
  clients: 'xvs-clients',
  exporter: 'xvs-exporter',
  task: 'xvs-task',
} as const;
