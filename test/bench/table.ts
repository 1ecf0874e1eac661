import type { Comparison } from './measure.ts';

/** Formats a Markdown table with a row for each comparison. */
export function formatTable(comparisons: readonly Comparison[]): string {
  return [
    ['what', 'measured', 'compared with', 'result', 'goal', 'met'],
    ['---', '---', '---', '---', '---', '---'],
    ...comparisons.map(formatCells),
  ]
    .map((cells) => `| ${cells.join(' | ')} |`)
    .join('\n');
}

function formatCells(comparison: Comparison): string[] {
  const { name, unit, value, reference, referenceValue, figure, figureUnit, direction, goal, isMet } =
    comparison;
  return [
    name,
    formatValue(value, unit),
    reference === undefined || referenceValue === undefined
      ? '–'
      : `${reference}: ${formatValue(referenceValue, unit)}`,
    formatValue(figure, figureUnit),
    `${direction} ${formatValue(goal, figureUnit)}`,
    isMet ? 'yes' : 'no',
  ];
}

/** One decimal; two for values below 1. */
function formatValue(value: number, unit: string): string {
  return `${value.toFixed(Math.abs(value) < 1 ? 2 : 1)} ${unit}`;
}
