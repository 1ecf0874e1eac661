import { defineFaultTests } from './fault-matrix.ts';
import { FAULTS } from './faults/table.ts';

/** Tests wait this long for each poll that must time out; the good polls between them must be faster. */
const TIMEOUT_MS = 3000;

const timeouts = FAULTS.filter(({ reason }) => reason === 'timeout');

defineFaultTests(timeouts, { faultyTimeoutMs: TIMEOUT_MS });
