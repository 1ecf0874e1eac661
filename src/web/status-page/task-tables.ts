import type { NotableTasks } from '../../tally/notable-tasks.ts';
import { formatTimeSpan, renderCount } from './human-units.ts';
import { html, renderName, type Markup } from './markup.ts';

interface TaskRow {
  readonly id: string;
  readonly vsId: string;
  readonly value: Markup;
}

/** The tasks with the most connections, and those that have stalled the longest; no table for none. */
export function renderTaskTables({ mostWatched, longestStalled }: NotableTasks, nowMs: number): Markup {
  const stalled = longestStalled.map(({ sinceMs, ...task }) => ({
    ...task,
    value: html`<span class="stalled">${formatTimeSpan(nowMs - sinceMs)}</span>`,
  }));
  const watched = mostWatched.map(({ connections, ...task }) => ({
    ...task,
    value: renderCount(connections),
  }));
  return html`<div class="breakdown tasks">
    ${renderTaskTable('Tasks stalled the longest', 'Stalled for', stalled)}
    ${renderTaskTable('Tasks with the most connections', 'Connections', watched)}
  </div>`;
}

function renderTaskTable(title: string, valueTitle: string, rows: readonly TaskRow[]): Markup | undefined {
  if (rows.length === 0) return undefined;
  return html`<section>
    <table>
      <caption>
        ${title}
      </caption>
      <thead>
        <tr>
          <th scope="col">Task and server</th>
          <th scope="col" class="number">${valueTitle}</th>
        </tr>
      </thead>
      <tbody>
        ${rows.map(
          ({ id, vsId, value }) =>
            html`<tr>
              <th scope="row">${renderName(id)} <span class="aside">${renderName(vsId)}</span></th>
              <td class="number">${value}</td>
            </tr> `,
        )}
      </tbody>
    </table>
  </section>`;
}
