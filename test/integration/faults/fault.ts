import type { PollErrorReason } from '../../../src/upstream/errors.ts';
import type { FaultAction } from '../fault-actions.ts';

/** A row of the matrix: a fault and its expected outcome. */
export interface Fault {
  readonly name: string;
  readonly make: FaultAction;
  readonly reason: PollErrorReason;
  /** The service code that fails; by default the one with plain HTTP and an IP address. */
  readonly faultyCode?: 'SECURE' | 'NAMED';
  /** The `ret` of the response; `any` if it depends on the bytes that arrive before the connection breaks. */
  readonly ret?: number | 'any';
  /** Whether the service must check timestamps. */
  readonly isTimestampFault?: true;
  /** The number of polls that are skipped because the service requested a pause. */
  readonly skippedPolls?: number;
  /** The size of the body, if it is decoded completely. */
  readonly bytes?: number;
}
