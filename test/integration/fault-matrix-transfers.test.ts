import { defineFaultTests } from './fault-matrix.ts';
import { CONNECTIONS } from './faults/connections.ts';
import { ENCODINGS, FRAMING } from './faults/http.ts';
import { STATUSES } from './faults/statuses.ts';

const transfers = [...CONNECTIONS, ...FRAMING, ...ENCODINGS, ...STATUSES];

defineFaultTests(transfers.filter(({ reason }) => reason !== 'timeout'));
