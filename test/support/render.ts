import type { Family } from '../../src/families/family.ts';
import { renderBlocks, type ExpositionFormat } from '../../src/metrics/exposition.ts';

/** Renders an exposition as text. */
export function render(families: Iterable<Family>, format: ExpositionFormat): string {
  return Buffer.concat([...renderBlocks(families, format)]).toString();
}
