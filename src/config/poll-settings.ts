import type { PollSettings, ServiceCodeSettings } from './configuration.ts';
import type { Merged } from './layers.ts';
import { mismatch, show, type Problem } from './problem.ts';
import { formatDuration } from './units.ts';

export function pollSettings({ read }: Merged): PollSettings {
  return { mode: read('poll.mode'), minAgeMs: read('poll.min_age') };
}

/**
 * Where scrapes ask for polls, a code that is not polled by each of them grows stale: its interval says how often they
 * come.
 */
export function minAgeProblems(
  settings: Merged,
  codes: readonly Pick<ServiceCodeSettings, 'serviceCode' | 'intervalMs'>[],
): readonly Problem[] {
  const { mode, minAgeMs } = pollSettings(settings);
  const [soonest] = codes.toSorted((one, other) => one.intervalMs - other.intervalMs);
  if (mode !== 'scrape' || soonest === undefined || soonest.intervalMs >= minAgeMs) return [];
  const expected = `at most the interval of service code ${show(soonest.serviceCode)} (${formatDuration(soonest.intervalMs)})`;
  const place = settings.origin('poll.min_age')?.place() ?? 'poll.min_age';
  return [{ place, message: mismatch(expected, formatDuration(minAgeMs)) }];
}
