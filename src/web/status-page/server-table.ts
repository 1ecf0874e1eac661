import type { ServerStatus } from '../../diagnostics/listing-breakdown.ts';
import { renderStalledTasks } from './conditions.ts';
import { renderAge, renderBitRate, renderCount } from './human-units.ts';
import { html, renderName, type Markup } from './markup.ts';

/** Beyond this, dashboards serve better than a page. */
const MAX_SERVERS = 100;

/** The servers of a listing, with their stalled tasks marked. */
export function renderServerTable(servers: readonly ServerStatus[], nowMs: number): Markup {
  const hiddenCount = servers.length - MAX_SERVERS;
  return html`<section>
    <table role="table" class="servers">
      <caption>
        Servers: ${servers.length}${hiddenCount > 0 ? ` (${hiddenCount} not shown)` : ''}
      </caption>
      <thead role="rowgroup">
        <tr role="row">
          <th role="columnheader" scope="col">Server</th>
          <th role="columnheader" scope="col" class="number">Stalled tasks</th>
          <th role="columnheader" scope="col" class="number">Tasks</th>
          <th role="columnheader" scope="col" class="number">Users</th>
          <th role="columnheader" scope="col" class="number">Ingress</th>
          <th role="columnheader" scope="col" class="number">Egress</th>
          <th role="columnheader" scope="col" class="number">Connections</th>
          <th role="columnheader" scope="col" class="number">Last seen</th>
        </tr>
      </thead>
      <tbody role="rowgroup">
        ${servers.slice(0, MAX_SERVERS).map((server) => renderRow(server, nowMs))}
      </tbody>
    </table>
  </section>`;
}

function renderRow(
  { vsId, users, tasks, stalledTasks, ingress, egress, connections, lastSeenMs }: ServerStatus,
  nowMs: number,
): Markup {
  return html`<tr role="row">
    <th role="rowheader" scope="row">${renderName(vsId)}</th>
    ${[
      renderCell('Stalled tasks', renderStalledTasks(stalledTasks) ?? renderCount(0)),
      renderCell('Tasks', renderCount(tasks)),
      renderCell('Users', renderCount(users)),
      renderCell('Ingress', renderBitRate(ingress)),
      renderCell('Egress', renderBitRate(egress)),
      renderCell('Connections', renderCount(connections)),
      renderCell('Last seen', renderAge(lastSeenMs, nowMs)),
    ]}
  </tr> `;
}

function renderCell(label: string, value: Markup): Markup {
  return html`<td role="cell" class="number" data-label="${label}">${value}</td>`;
}
