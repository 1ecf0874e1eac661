import { Exposition, type ExpositionFormat } from '../../src/metrics/exposition.ts';
import type { Family } from '../../src/metrics/family.ts';

/** The text of an exposition, rendered once. */
export function render(families: readonly Family[], format: ExpositionFormat): string {
  return new Exposition().render(families, format).toString();
}
