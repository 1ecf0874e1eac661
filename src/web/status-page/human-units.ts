import { html, type Markup } from './markup.ts';

/** What stands where nothing is known. */
export const UNKNOWN = html`<span class="unknown" aria-hidden="true">–</span
  ><span class="hidden">not known</span>`;

const PREFIXES = ['', 'k', 'M', 'G', 'T', 'P'];

/** `12345` → `12.3 k`: three digits, so that columns of numbers can be compared at a glance. */
function scaled(value: number): string {
  let rest = value;
  let at = 0;
  while (rest >= 999.5 && at < PREFIXES.length - 1) {
    rest /= 1000;
    at += 1;
  }
  const digits = rest >= 99.95 || at === 0 ? 0 : rest >= 9.995 ? 1 : 2;
  const prefix = PREFIXES[at] ?? '';
  return prefix === '' ? rest.toFixed(digits) : `${rest.toFixed(digits)} ${prefix}`;
}

const grouped = new Intl.NumberFormat('en-US', { maximumFractionDigits: 0 });

/** A count: in full up to four digits, in short beyond, with the exact value at hand. */
export function count(value: number | undefined): Markup {
  if (value === undefined) return UNKNOWN;
  if (value < 10_000) return html`${grouped.format(value)}`;
  return html`<abbr title="${grouped.format(value)}">${scaled(value)}</abbr>`;
}

/** Bytes per second, as bits per second. */
export function bitRate(bytesPerSecond: number | undefined): Markup {
  if (bytesPerSecond === undefined) return UNKNOWN;
  const text = scaled(bytesPerSecond * 8);
  const unit = text.includes(' ') ? 'bit/s' : ' bit/s';
  return html`<abbr title="${grouped.format(bytesPerSecond)} bytes per second">${text}${unit}</abbr>`;
}

/** How long something took: `340 ms`, `1.2 s`. */
export function shortDuration(ms: number | undefined): Markup {
  if (ms === undefined) return UNKNOWN;
  if (ms < 999.5) return html`<abbr title="${ms.toFixed(3)} ms">${Math.max(1, Math.round(ms))} ms</abbr>`;
  return html`<abbr title="${grouped.format(ms)} ms">${(ms / 1000).toFixed(1)} s</abbr>`;
}

const STEPS: readonly (readonly [fromMs: number, unitMs: number, unit: string])[] = [
  [2 * 86_400_000, 86_400_000, 'd'],
  [2 * 3_600_000, 3_600_000, 'h'],
  [2 * 60_000, 60_000, 'min'],
];

/** A span of time in one unit: `12 s`, `5 min`, `3 h`. */
export function span(ms: number): string {
  for (const [fromMs, unitMs, unit] of STEPS) if (ms >= fromMs) return `${Math.floor(ms / unitMs)} ${unit}`;
  return `${Math.max(0, Math.round(ms / 1000))} s`;
}

/** How long ago a moment was, which itself is at hand. */
export function ago(timeMs: number | undefined, nowMs: number): Markup {
  if (timeMs === undefined) return UNKNOWN;
  const iso = new Date(timeMs).toISOString();
  return html`<time datetime="${iso}" title="${utc(timeMs)}">${span(nowMs - timeMs)} ago</time>`;
}

/** `2026-01-02 03:04:05 UTC`. */
export function utc(timeMs: number): string {
  return `${new Date(timeMs).toISOString().slice(0, 19).replace('T', ' ')} UTC`;
}
