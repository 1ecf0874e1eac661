import type { ServerStatus } from '../view.ts';
import { stalledMark } from './conditions.ts';
import { ago, count } from './human-units.ts';
import { html, name, type Markup } from './markup.ts';

/** So many servers are listed: beyond it, a page is no place to look for one. */
const MAX_SERVERS = 100;

/** The servers of a listing, those with tasks that stand still marked. */
export function serverTable(servers: readonly ServerStatus[], nowMs: number): Markup {
  const left = servers.length - MAX_SERVERS;
  return html`<section>
    <table role="table" class="servers">
      <caption>
        Servers: ${servers.length}${left > 0 ? `, of which ${left} are not listed here` : ''}
      </caption>
      <thead role="rowgroup">
        <tr role="row">
          <th role="columnheader" scope="col">Server</th>
          <th role="columnheader" scope="col" class="number">Stalled tasks</th>
          <th role="columnheader" scope="col" class="number">Tasks</th>
          <th role="columnheader" scope="col" class="number">Users</th>
          <th role="columnheader" scope="col" class="number">Connections</th>
          <th role="columnheader" scope="col" class="number">Last seen</th>
        </tr>
      </thead>
      <tbody role="rowgroup">
        ${servers.slice(0, MAX_SERVERS).map((server) => row(server, nowMs))}
      </tbody>
    </table>
  </section>`;
}

function row(
  { vsId, users, tasks, stalledTasks, connections, lastSeenMs }: ServerStatus,
  nowMs: number,
): Markup {
  return html`<tr role="row">
    <th role="rowheader" scope="row">${name(vsId)}</th>
    ${[
      cell('Stalled tasks', stalledMark(stalledTasks) ?? count(0)),
      cell('Tasks', count(tasks)),
      cell('Users', count(users)),
      cell('Connections', count(connections)),
      cell('Last seen', ago(lastSeenMs, nowMs)),
    ]}
  </tr> `;
}

function cell(label: string, value: Markup): Markup {
  return html`<td role="cell" class="number" data-label="${label}">${value}</td>`;
}
