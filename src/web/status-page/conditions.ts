import type { ServiceCodeCondition, ServiceCodeStatus } from '../view.ts';
import { count } from './human-units.ts';
import { html, type Markup } from './markup.ts';

interface ConditionWords {
  readonly word: string;
  /** Says the same as the colour, and differs in shape. */
  readonly mark: string;
}

const WORDS: Readonly<Record<ServiceCodeCondition, ConditionWords>> = {
  down: { word: 'down', mark: '✕' },
  stale: { word: 'stale', mark: '◆' },
  waiting: { word: 'not polled yet', mark: '○' },
  up: { word: 'up', mark: '●' },
};

/** All of them, the worst first. */
export const CONDITIONS = [
  'down',
  'stale',
  'waiting',
  'up',
] as const satisfies readonly ServiceCodeCondition[];

/** What a condition is called. */
export function wordOf(condition: ServiceCodeCondition): string {
  return WORDS[condition].word;
}

/** The condition as a mark and a word and, where tasks stand still, how many. */
export function conditionMark({ condition, figures }: ServiceCodeStatus): Markup {
  const { word, mark } = WORDS[condition];
  return html`<span class="state ${condition}"
      ><span class="mark" aria-hidden="true">${mark}</span> ${word}</span
    >
    ${stalledMark(figures?.stalledTasks, ' stalled')}`;
}

/** How many tasks stand still; nothing for none. */
export function stalledMark(tasks: number | undefined, words = ''): Markup | undefined {
  return tasks === undefined || tasks === 0
    ? undefined
    : html`<span class="stalled"
        ><span class="mark" aria-hidden="true">▲</span> ${count(tasks)}${words}</span
      >`;
}

/** How urgent a service code is: what is red comes first, then what is up with tasks that stand still. */
export function urgencyOf({ condition, figures }: ServiceCodeStatus): number {
  switch (condition) {
    case 'down':
      return 0;
    case 'stale':
      return 1;
    case 'up':
      return (figures?.stalledTasks ?? 0) > 0 ? 2 : 4;
    case 'waiting':
      return 3;
  }
}

/** `2 down, 1 stale, 997 up; 3 tasks stalled`: those that there are. */
export function summaryOf(rows: readonly ServiceCodeStatus[]): string {
  const parts = CONDITIONS.flatMap((condition) => {
    const matching = rows.filter((row) => row.condition === condition).length;
    return matching === 0 ? [] : [`${matching} ${wordOf(condition)}`];
  });
  const stalled = rows.reduce((sum, { figures }) => sum + (figures?.stalledTasks ?? 0), 0);
  const tasks = stalled === 0 ? '' : `; ${stalled} ${stalled === 1 ? 'task' : 'tasks'} stalled`;
  return parts.length === 0 ? 'no service codes' : parts.join(', ') + tasks;
}
