import { html, type Markup } from './markup.ts';

/** A dash for the eye, a word for a screen reader. */
const UNKNOWN_VALUE = html`<span class="unknown" aria-hidden="true">–</span
  ><span class="hidden">unknown</span>`;

export function renderKnown(value: number | undefined, format: (value: number) => string): Markup {
  return value === undefined ? UNKNOWN_VALUE : html`${format(value)}`;
}

const SI_PREFIXES = ['', 'k', 'M', 'G', 'T', 'P'];

/** `12345` → `12.3 k`: three digits, to compare a column at a glance. `Intl.NumberFormat` has `12K`. */
function formatWithPrefix(value: number): string {
  let scaled = value;
  let power = 0;
  while (scaled >= 999.5 && power < SI_PREFIXES.length - 1) {
    scaled /= 1000;
    power += 1;
  }
  const digits = scaled >= 99.95 || power === 0 ? 0 : scaled >= 9.995 ? 1 : 2;
  return `${scaled.toFixed(digits)} ${SI_PREFIXES[power] ?? ''}`.trimEnd();
}

const integerFormat = new Intl.NumberFormat('en-US', { maximumFractionDigits: 0 });

/** A count: in full up to four digits, abbreviated beyond. */
export function formatCount(value: number): string {
  return value < 10_000 ? integerFormat.format(value) : formatWithPrefix(value);
}

/** `1 task`, `2 tasks`. */
export function formatQuantity(count: number, noun: string): string {
  return `${count} ${noun}${count === 1 ? '' : 's'}`;
}

/** A sentence names at most so many. */
const MAX_NAMED = 10;

/** The first ten, then how many more: `a, b and 3 more`. */
export function formatFirst<Item>(items: readonly Item[], format: (item: Item) => string): string {
  const named = items.slice(0, MAX_NAMED).map(format).join(', ');
  return items.length > MAX_NAMED ? `${named} and ${formatCount(items.length - MAX_NAMED)} more` : named;
}

/** Bytes per second as bits per second, with the unit of the dashboards: `9.88 Mb/s`. */
export function formatBitRate(bytesPerSecond: number): string {
  const bits = formatWithPrefix(bytesPerSecond * 8);
  return `${bits}${bits.includes(' ') ? 'b/s' : ' b/s'}`;
}

/** A duration: `340 ms`, `1.2 s`. */
export function formatHumanDuration(ms: number): string {
  return ms < 999.5 ? `${Math.max(1, Math.round(ms))} ms` : `${(ms / 1000).toFixed(1)} s`;
}

const TIME_UNITS: readonly (readonly [fromMs: number, unitMs: number, unit: string])[] = [
  [2 * 86_400_000, 86_400_000, 'd'],
  [2 * 3_600_000, 3_600_000, 'h'],
  [2 * 60_000, 60_000, 'min'],
];

/** A span of time in one unit: `12 s`, `5 min`, `3 h`. */
export function formatTimeSpan(ms: number): string {
  for (const [fromMs, unitMs, unit] of TIME_UNITS)
    if (ms >= fromMs) return `${Math.floor(ms / unitMs)} ${unit}`;
  return `${Math.max(0, Math.round(ms / 1000))} s`;
}

/** The age of a moment, with the moment itself in the tooltip. */
export function renderAge(timeMs: number | undefined, nowMs: number): Markup {
  if (timeMs === undefined) return UNKNOWN_VALUE;
  const [iso, utc] = [new Date(timeMs).toISOString(), formatUtc(timeMs)];
  const age = formatTimeSpan(nowMs - timeMs);
  return html`<time datetime="${iso}" title="${utc}">${age} ago</time>`;
}

/** The time of a moment in UTC, with its date unless that is today: `18:02`, `2026-01-01 18:02`. */
export function formatMoment(timeMs: number, nowMs: number): string {
  const [date, today] = [timeMs, nowMs].map((ms) => formatUtc(ms).slice(0, 10));
  const time = formatUtc(timeMs).slice(11, 16);
  return date === today ? time : `${date} ${time}`;
}

/** `since 18:02 (5 min)`. */
export function formatSince(sinceMs: number, nowMs: number): string {
  return `since ${formatMoment(sinceMs, nowMs)} (${formatTimeSpan(nowMs - sinceMs)})`;
}

/** `2026-01-02 03:04:05 UTC`. */
export function formatUtc(timeMs: number): string {
  return `${new Date(timeMs).toISOString().slice(0, 19).replace('T', ' ')} UTC`;
}
