import { parse } from 'yaml';
import { formatDuration, parseDuration } from '../../src/config/units.ts';
import { replaceDurations } from './promql.ts';

/** Keys of durations in the configurations of Prometheus and Alertmanager. */
const DURATION_KEYS = new Set([
  'for',
  'keep_firing_for',
  'interval',
  'evaluation_interval',
  'scrape_interval',
  'scrape_timeout',
  'group_wait',
  'group_interval',
  'repeat_interval',
  'resolve_timeout',
]);

/**
 * Parses a YAML file of rules or routes and divides all durations: the values of {@link DURATION_KEYS}, and
 * ranges and offsets in expressions.
 */
export function scaleDurations(yaml: string, divisor: number): unknown {
  const shorten = (duration: string): string => {
    const ms = parseDuration(duration);
    if (ms === undefined) throw new TypeError(`Expected a duration, found ${duration}`);
    return formatDuration(Math.max(1, Math.round(ms / divisor)));
  };
  const walk = (value: unknown, key = ''): unknown => {
    if (Array.isArray(value)) return value.map((item) => walk(item));
    if (typeof value === 'object' && value !== null) {
      return Object.fromEntries(Object.entries(value).map(([name, item]) => [name, walk(item, name)]));
    }
    if (typeof value !== 'string') return value;
    if (key === 'expr') return replaceDurations(value, shorten);
    return DURATION_KEYS.has(key) ? shorten(value) : value;
  };
  return walk(parse(yaml));
}
