import { defineFaultTests } from './fault-matrix.ts';
import { CONTENTS } from './faults/table.ts';

defineFaultTests(CONTENTS);
