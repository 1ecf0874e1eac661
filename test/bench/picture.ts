import type { Comparison } from './measure.ts';

const WIDTH = 760;
const ROW_HEIGHT = 44;
const LEFT = 8;
const BAR_WIDTH = 520;

/** Draws the rows that have a reference: a bar for the exporter over a bar for the reference, the longer one at full width. */
export function drawComparisons(comparisons: readonly Comparison[]): string {
  const rows = comparisons.filter(({ referenceValue }) => referenceValue !== undefined);
  const height = rows.length * ROW_HEIGHT + 32;
  return [
    `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${WIDTH} ${height}" font-family="sans-serif" font-size="12">`,
    '<style>text{fill:#57606a}.own{fill:#2da44e}.other{fill:#8c959f}</style>',
    '<rect class="own" x="8" y="8" width="12" height="12"/><text x="24" y="18">exporter</text>',
    '<rect class="other" x="96" y="8" width="12" height="12"/><text x="112" y="18">reference</text>',
    ...rows.map((row, index) => drawRow(row, 32 + index * ROW_HEIGHT)),
    '</svg>',
    '',
  ].join('\n');
}

function drawRow({ name, value, unit, reference = '', referenceValue = 0 }: Comparison, top: number): string {
  const longest = Math.max(value, referenceValue);
  const bar = (kind: string, length: number, y: number) =>
    `<rect class="${kind}" x="${LEFT}" y="${y}" width="${Math.max(1, (BAR_WIDTH * length) / longest).toFixed(1)}" height="8"/>` +
    `<text x="${LEFT + BAR_WIDTH + 8}" y="${y + 8}">${length.toPrecision(3)} ${unit}</text>`;
  return `<text x="${LEFT}" y="${top + 12}">${name}; reference: ${reference}</text>${bar('own', value, top + 18)}${bar('other', referenceValue, top + 28)}`;
}
