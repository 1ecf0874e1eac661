import { defineFaultTests } from './fault-matrix.ts';
import { TRANSFERS } from './faults/table.ts';

defineFaultTests(TRANSFERS);
