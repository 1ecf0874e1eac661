import { RETS } from './rets.ts';
import { BODIES } from './bodies.ts';
import { CONNECTIONS, TIMEOUTS } from './connections.ts';
import type { Fault } from './fault.ts';
import { ENCODINGS, FRAMING } from './http.ts';
import { STATUSES } from './statuses.ts';

/** The rows of the matrix. */
export const FAULTS: readonly Fault[] = [
  ...CONNECTIONS,
  ...TIMEOUTS,
  ...FRAMING,
  ...ENCODINGS,
  ...STATUSES,
  ...RETS,
  ...BODIES,
];
