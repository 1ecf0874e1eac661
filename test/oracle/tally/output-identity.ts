import type { OutputRecord } from '../listing/entry-records.ts';
import { hashTexts } from '../listing/text-hash.ts';

/**
 * Identifies an output within its task by `format`, `relative_dir` and `file_name`, as a 53-bit number. The file names
 * themselves would take most of the ledger's memory.
 *
 * Two outputs that share a number by chance (one pair in 10¹⁵) are matched by value, as outputs with equal names are.
 */
export function hashOutputIdentity({ format, relativeDir, fileName }: OutputRecord): number {
  return hashTexts([format, relativeDir, fileName]);
}
