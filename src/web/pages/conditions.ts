import type { ServiceCodeCondition, ServiceCodeStatus } from '../view.ts';
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

/** The condition as a mark and a word. */
export function conditionMark(condition: ServiceCodeCondition): Markup {
  const { word, mark } = WORDS[condition];
  return html`<span class="state ${condition}"
    ><span class="mark" aria-hidden="true">${mark}</span> ${word}</span
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

/** `2 down, 1 stale, 997 up`: those that there are. */
export function summaryOf(rows: readonly ServiceCodeStatus[]): string {
  const parts = CONDITIONS.flatMap((condition) => {
    const count = rows.filter((row) => row.condition === condition).length;
    return count === 0 ? [] : [`${count} ${wordOf(condition)}`];
  });
  return parts.length === 0 ? 'no service codes' : parts.join(', ');
}
