const PART = /(\d+(?:\.\d*)?|\.\d+)(ns|us|µs|μs|ms|s|m|h)/g;
const UNIT_MS: ReadonlyMap<string, number> = new Map([
  ['ns', 1e-6],
  ['us', 1e-3],
  ['µs', 1e-3],
  ['μs', 1e-3],
  ['ms', 1],
  ['s', 1000],
  ['m', 60_000],
  ['h', 3_600_000],
]);

/** A duration as Go writes it (`1.5s`, `1h2m`, `0`), not negative, in milliseconds; undefined if the text is none. */
export function parseGoDuration(text: string): number | undefined {
  const unsigned = text.replace(/^\+/, '');
  if (unsigned === '0') return 0;
  const parts = [...unsigned.matchAll(PART)];
  if (parts.length === 0 || parts.map(([part]) => part).join('') !== unsigned) return undefined;
  const ms = parts.reduce((sum, [, number, unit = '']) => sum + Number(number) * (UNIT_MS.get(unit) ?? 0), 0);
  return Number.isFinite(ms) ? ms : undefined;
}
