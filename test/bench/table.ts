import type { Comparison } from './measure.ts';

/** A table in Markdown, a row for each comparison. */
export function tableOf(comparisons: readonly Comparison[]): string {
  return [
    ['what', 'measured', 'compared with', 'comes to', 'goal', 'met'],
    ['---', '---', '---', '---', '---', '---'],
    ...comparisons.map(cellsOf),
  ]
    .map((cells) => `| ${cells.join(' | ')} |`)
    .join('\n');
}

function cellsOf(comparison: Comparison): string[] {
  const { name, unit, value, reference, referenceValue, figure, figureUnit, direction, goal, isMet } =
    comparison;
  return [
    name,
    show(value, unit),
    reference === undefined || referenceValue === undefined
      ? '–'
      : `${reference}: ${show(referenceValue, unit)}`,
    show(figure, figureUnit),
    goal === undefined ? '–' : `${direction} ${show(goal, figureUnit)}`,
    isMet === undefined ? '–' : isMet ? 'yes' : 'no',
  ];
}

/** With one digit behind the point; with two, where it would be the only one. */
function show(value: number, unit: string): string {
  return `${value.toFixed(Math.abs(value) < 1 ? 2 : 1)} ${unit}`;
}
