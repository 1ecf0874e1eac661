export const DURATION = /^(?:(\d+)y)?(?:(\d+)w)?(?:(\d+)d)?(?:(\d+)h)?(?:(\d+)m)?(?:(\d+)s)?(?:(\d+)ms)?$/;
const DURATION_UNITS = [
  ['y', 365 * 86_400_000],
  ['w', 7 * 86_400_000],
  ['d', 86_400_000],
  ['h', 3_600_000],
  ['m', 60_000],
  ['s', 1000],
  ['ms', 1],
] as const;

export const SIZE = /^(\d+)(B|KiB|MiB|GiB|KB|MB|GB)?$/;
export const BIT_RATE = /^(\d+(?:\.\d+)?)([kMGT]?)bit\/s$/;

/** Parses durations of Prometheus (`1h30m`, `2w`, `0`) to ms. Packages such as `ms` accept other texts. */
export function parseDuration(text: string): number | undefined {
  if (text === '0') return 0;
  const match = DURATION.exec(text);
  if (match === null || text === '') return undefined;
  const ms = DURATION_UNITS.reduce((sum, [, unit], index) => sum + Number(match[index + 1] ?? 0) * unit, 0);
  return Number.isSafeInteger(ms) ? ms : undefined;
}

/** Formats milliseconds in days and smaller units, for {@link parseDuration}: `8d`, `1m30s`, `0s`. */
export function formatDuration(ms: number): string {
  let rest = ms;
  let text = '';
  for (const [name, unit] of DURATION_UNITS.slice(2)) {
    const count = Math.floor(rest / unit);
    rest -= count * unit;
    if (count > 0) text += `${count}${name}`;
  }
  return text === '' ? '0s' : text;
}

/** Parses a size (`1024`, `64KiB`, `1GB`) to bytes. */
export function parseSize(text: string): number | undefined {
  const bytes = parseScaled(text, SIZE);
  return Number.isSafeInteger(bytes) ? bytes : undefined;
}

/** Parses a bit rate (`500kbit/s`, `2.5Gbit/s`) to bytes per second. */
export function parseBitRate(text: string): number | undefined {
  const bytesPerSecond = parseScaled(text, BIT_RATE) / 8;
  return bytesPerSecond <= Number.MAX_SAFE_INTEGER ? bytesPerSecond : undefined;
}

/** NaN for a text that does not match. A unit without a prefix has the power 0. */
function parseScaled(text: string, pattern: RegExp): number {
  const [, count, unit = ''] = pattern.exec(text) ?? [];
  const power = Math.max(0, ' KMGT'.indexOf(unit.charAt(0).toUpperCase()));
  return Number(count) * (unit.includes('i') ? 1024 : 1000) ** power;
}
