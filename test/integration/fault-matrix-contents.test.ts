import { defineFaultTests } from './fault-matrix.ts';
import { BODIES } from './faults/bodies.ts';
import { RETS } from './faults/rets.ts';

defineFaultTests([...RETS, ...BODIES].filter(({ reason }) => reason !== 'timeout'));
