import type { NamedCount } from '../../diagnostics/listing-breakdown.ts';
import type { DisplayNames } from '../../config/display-names.ts';
import { renderCount } from './human-units.ts';
import { html, renderName, type Markup } from './markup.ts';

/** The counts beyond share one bar. */
const MAX_BARS = 10;

interface BarTableOptions {
  /** Shown beside the title. */
  readonly note?: string;
  /** Names to show before label values. */
  readonly names?: DisplayNames;
}

/** A table of names and counts with a bar for each, in the given order. */
export function renderBarTable(
  title: string,
  counts: readonly NamedCount[],
  { note, names }: BarTableOptions = {},
): Markup {
  const shown = counts.slice(0, MAX_BARS);
  const others = counts.slice(MAX_BARS);
  const othersSum = others.reduce((sum, { value }) => sum + value, 0);
  const max = Math.max(1, othersSum, ...shown.map(({ value }) => value));
  const rows = shown.map(({ name, value }) => renderRow(renderDisplayName(name, names), value, max));
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

function renderDisplayName(value: string, names: DisplayNames | undefined): Markup {
  const name = names?.get(value);
  return name === undefined
    ? renderName(value)
    : html`${renderName(name)} <span class="aside">${renderName(value)}</span>`;
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
