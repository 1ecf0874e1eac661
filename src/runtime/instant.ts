import { z } from 'zod';
import type { Clock } from './clock.ts';

/** A moment, on both clocks: timestamps come from the wall, durations from the monotonic one. */
export interface Instant {
  /** Milliseconds since the Unix epoch; may jump. */
  readonly wallMs: number;
  /** Milliseconds since some fixed moment; never goes backwards. */
  readonly monotonicMs: number;
}

/** An {@link Instant} of the state. */
export const instantSchema = z.object({ monotonicMs: z.number(), wallMs: z.number() }).readonly();

export function readInstant(clock: Pick<Clock, 'now' | 'monotonic'>): Instant {
  return { wallMs: clock.now(), monotonicMs: clock.monotonic() };
}

/** Coarser than the readings of both clocks, so that timestamps that are derived twice are equal. */
const OFFSET_STEP_MS = 100;

/**
 * Added to a monotonic time, gives its wall-clock time as the wall clock counted at the given moment. A
 * timestamp that was read from the wall clock has a false age as soon as that clock is set.
 */
export function getWallOffsetMs({ wallMs, monotonicMs }: Instant): number {
  return Math.round((wallMs - monotonicMs) / OFFSET_STEP_MS) * OFFSET_STEP_MS;
}
