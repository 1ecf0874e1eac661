import type { StaticLabels } from '../../metrics/family.ts';
import { html, renderName, type Markup } from './markup.ts';

/** The labels of a service code; `undefined` if it has none. */
export function renderLabels(labels: StaticLabels): Markup | undefined {
  const texts = formatLabels(labels);
  return texts.length === 0
    ? undefined
    : html`<span class="labels">${texts.map((text) => html`<span>${renderName(text)}</span> `)}</span>`;
}

/** Labels as they are shown and filtered: `tenant=acme`. */
export function formatLabels(labels: StaticLabels): readonly string[] {
  return Object.entries(labels).map(([label, value]) => `${label}=${value}`);
}
