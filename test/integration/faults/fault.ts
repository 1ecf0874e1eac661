import type { PollErrorReason } from '../../../src/upstream/errors.ts';
import type { FaultAction } from '../fault-actions.ts';

/** A row of the matrix: what goes wrong, and what comes of it. */
export interface Fault {
  readonly name: string;
  readonly make: FaultAction;
  readonly reason: PollErrorReason;
  /** How the service is reached, where it is not by plain HTTP and an address. */
  readonly faultyCode?: 'SECURE' | 'NAMED';
  /** What the answer's `ret` is; `any` where it depends on what arrived before the connection broke. */
  readonly ret?: number | 'any';
  /** Whether it takes a service that judges timestamps. */
  readonly isTimestampFault?: true;
  /** How many polls are left out because the service asked for a pause. */
  readonly skippedPolls?: number;
  /** The size of the body, where it was decoded to its end. */
  readonly bytes?: number;
}
