import type { ServiceCodeStatus } from '../exporter-facade.ts';
import { hasStalledTasks, rankSeverity } from './conditions.ts';
import { html, type Markup } from './markup.ts';

/** The state that the icon of a page shows: `problem` is stale, without traffic, or with stalled tasks. */
export type IconState = 'down' | 'problem' | 'up' | 'waiting';

/** The states differ in shape, not only in colour, which suits light and dark tabs. */
const SHAPES: Readonly<Record<IconState, string>> = {
  down: '<rect width="16" height="16" rx="3" fill="#d1242f"/><path d="M4 4l8 8M12 4l-8 8" stroke="#fff" stroke-width="2.5"/>',
  problem:
    '<path d="M8 1L16 15H0z" fill="#d4a017"/><path d="M8 5.5v4.5M8 11.5v2" stroke="#000" stroke-width="2"/>',
  up: '<circle cx="8" cy="8" r="7" fill="#2da44e"/>',
  waiting: '<circle cx="8" cy="8" r="5.5" fill="none" stroke="#8c959f" stroke-width="3"/>',
};

/** The icon of a page as a data URL, so that it needs no request. */
export function renderFavicon(state: IconState): Markup {
  const svg = `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 16 16">${SHAPES[state]}</svg>`;
  const href = `data:image/svg+xml,${encodeURIComponent(svg)}`;
  return html`<link rel="icon" id="icon" data-live href="${href}" />`;
}

/** The icon of one service code. */
export function findIcon({ condition, totals }: ServiceCodeStatus): IconState {
  switch (condition) {
    case 'down':
    case 'waiting':
      return condition;
    case 'stale':
    case 'idle':
      return 'problem';
    case 'up':
      return hasStalledTasks(totals) ? 'problem' : 'up';
  }
}

/** The icon of the service code with the most severe condition. */
export function findWorstIcon(rows: readonly ServiceCodeStatus[]): IconState {
  const [first, ...others] = rows;
  if (first === undefined) return 'waiting';
  const worst = others.reduce((a, b) => (rankSeverity(b) < rankSeverity(a) ? b : a), first);
  return findIcon(worst);
}
