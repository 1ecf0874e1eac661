import type { ServiceCodeCondition, ServiceCodeStatus } from '../exporter-facade.ts';
import { renderCount } from './human-units.ts';
import { html, type Markup } from './markup.ts';

/** The conditions in the order of their severity. */
export const CONDITIONS = [
  'down',
  'stale',
  'idle',
  'waiting',
  'up',
] as const satisfies readonly ServiceCodeCondition[];

/** Symbols differ in shape, so that the colour is never the only difference. */
const CONDITION_DISPLAY: Readonly<
  Record<ServiceCodeCondition, { readonly text: string; readonly symbol: string }>
> = {
  down: { text: 'down', symbol: '✕' },
  stale: { text: 'stale', symbol: '◆' },
  idle: { text: 'no traffic', symbol: '◐' },
  waiting: { text: 'not polled yet', symbol: '○' },
  up: { text: 'up', symbol: '●' },
};

export function formatCondition(condition: ServiceCodeCondition): string {
  return CONDITION_DISPLAY[condition].text;
}

/** The condition as a symbol and a word, and the number of stalled tasks. */
export function renderCondition({ condition, totals }: ServiceCodeStatus): Markup {
  const { text, symbol } = CONDITION_DISPLAY[condition];
  return html`<span class="state ${condition}"
      ><span class="mark" aria-hidden="true">${symbol}</span> ${text}</span
    >
    ${renderStalledTasks(totals?.stalledTasks, ' stalled')}`;
}

/** The number of stalled tasks as a warning; `undefined` if there are none. */
export function renderStalledTasks(tasks: number | undefined, suffix = ''): Markup | undefined {
  return tasks === undefined || tasks === 0
    ? undefined
    : html`<span class="stalled"
        ><span class="mark" aria-hidden="true">▲</span> ${renderCount(tasks)}${suffix}</span
      >`;
}

/** Whether tasks of a service code are stalled. */
export function hasStalledTasks(totals: ServiceCodeStatus['totals']): boolean {
  return totals !== undefined && totals.stalledTasks > 0;
}

/** Sort key of the condition, 0 for the most severe; stalled tasks rank between no traffic and waiting. */
export function rankSeverity({ condition, totals }: ServiceCodeStatus): number {
  switch (condition) {
    case 'down':
      return 0;
    case 'stale':
      return 1;
    case 'idle':
      return 2;
    case 'up':
      return hasStalledTasks(totals) ? 3 : 5;
    case 'waiting':
      return 4;
  }
}

/** Counts by condition, without the zeros: `2 down, 1 stale, 997 up; 3 tasks stalled`. */
export function formatSummary(rows: readonly ServiceCodeStatus[]): string {
  const parts = CONDITIONS.flatMap((condition) => {
    const count = rows.filter((row) => row.condition === condition).length;
    return count === 0 ? [] : [`${count} ${formatCondition(condition)}`];
  });
  const stalled = rows.reduce((sum, { totals }) => sum + (totals?.stalledTasks ?? 0), 0);
  const tasks = stalled === 0 ? '' : `; ${stalled} ${stalled === 1 ? 'task' : 'tasks'} stalled`;
  return parts.length === 0 ? 'no service codes' : parts.join(', ') + tasks;
}
