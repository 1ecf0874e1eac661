import { respondWithBody, injectSimulatorFault } from '../fault-actions.ts';
import type { Fault } from './fault.ts';
import { LISTS } from './listing.ts';

/** Every form of a `ret` that is not 0. */
export const RETS: readonly Fault[] = [
  { name: 'ret 7', make: injectSimulatorFault({ fault: 'ret', value: 7 }), reason: 'api_error', ret: 7 },
  { name: 'ret -1', make: injectSimulatorFault({ fault: 'ret', value: -1 }), reason: 'api_error', ret: -1 },
  { name: 'ret "7"', make: injectSimulatorFault({ fault: 'ret', value: '7' }), reason: 'api_error', ret: 7 },
  {
    name: 'ret "-1"',
    make: injectSimulatorFault({ fault: 'ret', value: '-1' }),
    reason: 'api_error',
    ret: -1,
  },
  { name: 'ret 7e0', make: respondWithBody(`{"ret":7e0,${LISTS}}`), reason: 'api_error', ret: 7 },
  {
    name: 'ret 7 behind the lists',
    make: respondWithBody(`{${LISTS},"ret":7}`),
    reason: 'api_error',
    ret: 7,
  },
  { name: 'ret 7 without lists', make: respondWithBody('{"ret":7}'), reason: 'api_error', ret: 7, bytes: 9 },
  {
    name: 'ret 200 with status 200',
    make: injectSimulatorFault({ fault: 'http_status', status: 200 }),
    reason: 'api_error',
    ret: 200,
  },
  { name: 'ret "no"', make: injectSimulatorFault({ fault: 'ret', value: 'no' }), reason: 'bad_shape' },
  ...['0.5', '9007199254740992', '1e400', 'true', 'null', '""', '"0x7"', '" 0"', '[]', '{}', '[0]'].map(
    (ret): Fault => ({
      name: `ret ${ret}`,
      make: respondWithBody(`{"ret":${ret},${LISTS}}`),
      reason: 'bad_shape',
    }),
  ),
  { name: 'no ret', make: respondWithBody(`{${LISTS}}`), reason: 'bad_shape' },
  {
    name: 'a duplicate ret',
    make: respondWithBody(`{"ret":0,${LISTS},"ret":0}`),
    reason: 'bad_shape',
    ret: 0,
  },
  {
    name: 'a service whose clock is an hour ahead',
    make: injectSimulatorFault({ fault: 'clock_skew', ms: 3_600_000 }),
    isTimestampFault: true,
    reason: 'api_error',
    ret: 1004,
  },
  {
    name: 'a service whose clock is a day behind',
    make: injectSimulatorFault({ fault: 'clock_skew', ms: -86_400_000 }),
    isTimestampFault: true,
    reason: 'api_error',
    ret: 1004,
  },
];
