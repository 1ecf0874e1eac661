import type { NamedCount } from '../../diagnostics/listing-breakdown.ts';
import { renderCount } from './human-units.ts';
import { html, renderName, type Markup } from './markup.ts';

/** The counts beyond share one bar. */
const MAX_BARS = 10;

/** A table of names and counts with a bar for each, in the given order; `note` is shown beside the title. */
export function renderBarTable(title: string, counts: readonly NamedCount[], note?: string): Markup {
  const shown = counts.slice(0, MAX_BARS);
  const others = counts.slice(MAX_BARS);
  const othersSum = others.reduce((sum, { value }) => sum + value, 0);
  const max = Math.max(1, othersSum, ...shown.map(({ value }) => value));
  const rows = shown.map(({ name, value }) => renderRow(renderName(name), value, max));
  if (others.length > 0) rows.push(renderRow(html`<em>${others.length} others</em>`, othersSum, max));
  const noRows = html`<tr>
    <td class="aside" colspan="3">none</td>
  </tr>`;
  return html`<section>
    <table class="bars">
      <caption>
        ${title}${note === undefined ? '' : html` <span class="aside">${note}</span>`}
      </caption>
      <thead class="hidden">
        <tr>
          <th scope="col">Name</th>
          <th scope="col">Count</th>
          <th scope="col">Bar</th>
        </tr>
      </thead>
      <tbody>
        ${rows.length === 0 ? noRows : rows}
      </tbody>
    </table>
  </section> `;
}

function renderRow(heading: Markup, value: number, max: number): Markup {
  const width = ((100 * value) / max).toFixed(1);
  return html`<tr>
    <th scope="row">${heading}</th>
    <td class="number">${renderCount(value)}</td>
    <td class="bar">
      <svg viewBox="0 0 100 10" preserveAspectRatio="none" aria-hidden="true" focusable="false">
        <rect width="${width}" height="10" />
      </svg>
    </td>
  </tr> `;
}
