import { defineFaultTests } from './fault-matrix.ts';
import { FAULTS } from './faults/table.ts';

/** Each poll that must time out takes this long. Successful polls must be faster. */
const TIMEOUT_MS = 3000;

const timeouts = FAULTS.filter(({ reason }) => reason === 'timeout');

defineFaultTests(timeouts, { faultyTimeoutMs: TIMEOUT_MS });
