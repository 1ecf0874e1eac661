import { dashboardOf, type Board } from './board.ts';
import { clients } from './clients.ts';
import { exporterHealth } from './exporter-health.ts';
import { overview } from './overview.ts';
import { server } from './server.ts';
import { serviceCode } from './service-code.ts';
import { taskDetail } from './task-detail.ts';

const BOARDS: readonly (() => Board)[] = [overview, serviceCode, server, clients, exporterHealth, taskDetail];

/** Every dashboard, as the text of the file in `dashboards/` that it is committed as. */
export function dashboardFiles(): ReadonlyMap<string, string> {
  return new Map(
    BOARDS.map((board) => dashboardOf(board())).map((dashboard) => [
      `${dashboard.uid ?? ''}.json`,
      `${JSON.stringify(dashboard, null, 2)}\n`,
    ]),
  );
}
