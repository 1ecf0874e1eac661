import type { Share } from '../view.ts';
import { count } from './human-units.ts';
import { html, name, type Markup } from './markup.ts';

/** So many have a bar of their own; the rest are summed in one. */
const MAX_BARS = 10;

/** A table of names and numbers with a bar for each, the largest first; nothing for none. */
export function bars(title: string, shares: readonly Share[], note?: string): Markup {
  const shown = shares.slice(0, MAX_BARS);
  const rest = shares.slice(MAX_BARS);
  const restSum = rest.reduce((sum, { value }) => sum + value, 0);
  const top = Math.max(1, restSum, ...shown.map(({ value }) => value));
  const rows = shown.map(({ name: text, value }) => row(name(text), value, top));
  if (rest.length > 0) rows.push(row(html`<em>${rest.length} others</em>`, restSum, top));
  return html`<section>
    <table class="bars">
      <caption>
        ${title}${note === undefined ? '' : html` <span class="aside">${note}</span>`}
      </caption>
      <thead class="hidden">
        <tr>
          <th scope="col">Name</th>
          <th scope="col">Number</th>
          <th scope="col">Bar</th>
        </tr>
      </thead>
      <tbody>
        ${
          rows.length === 0
            ? html`<tr>
                <td class="aside" colspan="3">none</td>
              </tr>`
            : rows
        }
      </tbody>
    </table>
  </section> `;
}

function row(heading: Markup, value: number, top: number): Markup {
  return html`<tr>
    <th scope="row">${heading}</th>
    <td class="number">${count(value)}</td>
    <td class="bar">${bar(value, top)}</td>
  </tr> `;
}

function bar(value: number, top: number): Markup {
  const width = ((100 * value) / top).toFixed(1);
  return html`<svg viewBox="0 0 100 10" preserveAspectRatio="none" aria-hidden="true" focusable="false">
    <rect width="${width}" height="10" />
  </svg>`;
}
