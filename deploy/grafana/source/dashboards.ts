import { buildDashboard, type DashboardSpec } from './dashboard-builder.ts';
import { exporterHealth } from './exporter-health.ts';
import { overview } from './overview.ts';
import { serviceCode } from './service-code.ts';
import { taskDetail } from './task-detail.ts';

const DASHBOARD_SPECS: readonly (() => DashboardSpec)[] = [overview, serviceCode, taskDetail, exporterHealth];

/** Renders every dashboard; maps file names in `dashboards/` to contents. */
export function renderDashboardFiles(): ReadonlyMap<string, string> {
  return new Map(
    DASHBOARD_SPECS.map((board) => buildDashboard(board())).map((dashboard) => [
      `${dashboard.uid ?? ''}.json`,
      `${JSON.stringify(dashboard, null, 2)}\n`,
    ]),
  );
}
