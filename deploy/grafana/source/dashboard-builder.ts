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
import type { Filter } from './queries.ts';

/** Selects the dashboards of the exporter for the links between them. */
const TAG = 'xvs-exporter';

/** A row of panels. The first one has no title. */
interface Section {
  readonly title?: string;
  /** Opened by a click; until then, Grafana does not query its panels. */
  readonly isCollapsed?: boolean;
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
  // Two dashboards of one folder with equal titles would freeze Grafana's provider: hence the prefix.
  const builder = new DashboardBuilder(`XVS ${board.title}`)
    .uid(board.uid)
    .description(board.description)
    .tags([TAG])
    .editable()
    .timezone('browser')
    .tooltip(DashboardCursorSync.Crosshair)
    .time({ from: `now-${board.span}`, to: 'now' })
    .refresh('1m')
    .link(createDashboardLinks());
  for (const variable of createVariables(board.filters)) builder.withVariable(variable);
  for (const annotation of annotations()) builder.annotation(annotation);
  for (const { title, isCollapsed = false, panels } of board.sections) {
    const row = title === undefined ? undefined : new RowBuilder(title);
    if (row !== undefined && isCollapsed) {
      for (const panel of panels) row.withPanel(panel);
      builder.withRow(row.collapsed(true));
    } else {
      if (row !== undefined) builder.withRow(row);
      for (const panel of panels) builder.withPanel(panel);
    }
  }
  return finalizeDashboard(builder.build());
}

/** A menu of all dashboards with the tag, which keeps time range and variables. */
function createDashboardLinks(): DashboardLinkBuilder {
  return new DashboardLinkBuilder('XVS dashboards')
    .type(DashboardLinkType.Dashboards)
    .asDropdown(true)
    .tags([TAG])
    .icon('external link')
    .includeVars(true)
    .keepTime(true);
}

/**
 * Defaults that the builders set: `placement` would hide links and annotations in a menu, the others only
 * lengthen the files.
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
  const panels = dashboard.panels?.flatMap((panel) =>
    'panels' in panel ? [panel, ...panel.panels] : [panel],
  );
  panels?.forEach((panel, index) => Object.assign(without(panel), { id: index + 1 }));
  // All rows on one page; the builder takes no 0.
  for (const panel of panels ?? [])
    if (panel.type === 'state-timeline') panel.options = { ...panel.options, perPage: 0 };
  return dashboard;
}
