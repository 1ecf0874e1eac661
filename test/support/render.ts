import { Exposition } from '../../src/metrics/exposition/exposition.ts';
import type { ExpositionFormat } from '../../src/metrics/exposition/exposition-lines.ts';
import type { Family } from '../../src/metrics/catalogue/family.ts';

/** Renders an exposition as text, without a shared cache. */
export function render(families: readonly Family[], format: ExpositionFormat): string {
  return new Exposition().renderBody('everything', families, format).bytes.toString();
}
