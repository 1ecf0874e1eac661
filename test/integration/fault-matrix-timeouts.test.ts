import { defineFaultTests } from './fault-matrix.ts';
import { TIMEOUTS } from './faults/table.ts';

/** Each poll that must time out takes this long. */
const TIMEOUT_MS = 3000;

defineFaultTests(TIMEOUTS, { faultyTimeoutMs: TIMEOUT_MS });
