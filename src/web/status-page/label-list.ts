import type { StaticLabels } from '../../metrics/family.ts';
import { html, name, type Markup } from './markup.ts';

/** The labels of a service code, small beside it; nothing for none. */
export function labelList(labels: StaticLabels): Markup | undefined {
  const texts = labelTexts(labels);
  return texts.length === 0
    ? undefined
    : html`<span class="labels">${texts.map((text) => html`<span>${name(text)}</span> `)}</span>`;
}

/** `tenant=acme`: as labels are shown, and looked for. */
export function labelTexts(labels: StaticLabels): readonly string[] {
  return Object.entries(labels).map(([label, value]) => `${label}=${value}`);
}
