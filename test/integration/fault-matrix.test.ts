import { defineFaultTests } from './fault-matrix.ts';
import { FAULTS } from './faults/table.ts';

defineFaultTests(FAULTS);
