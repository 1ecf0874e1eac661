import { CATALOGUE as C } from '../../../src/metrics/catalogue.ts';
import { thresholds } from './appearance.ts';
import { UIDS, type Board } from './board.ts';
import { timeSeries } from './panels.ts';
import {
  CATCH_UP_NOTE,
  egress,
  HLS_NOTE,
  ingress,
  max,
  METERED,
  perMinute,
  queriesOf,
  sum,
} from './queries.ts';
import { table } from './tables.ts';

const q = queriesOf(['service_code', 'vs_id']);
const SERVER = ['vs_id'];
const BY_SERVER = '{{vs_id}}';
const NO_LISTING = 'No listing with such a server';
const THIRD = { span: 8, noValue: NO_LISTING };

const users = sum(SERVER, q.last(C.serverOnlineUsers));
const tasks = sum(SERVER, q.last(C.tasks));
const stalled = sum(SERVER, q.last(C.tasksStalled));
const connections = sum(SERVER, q.last(C.httpConnections, METERED));

/** Each server of the service, over the service codes that use it. */
export function server(): Board {
  return {
    uid: UIDS.server,
    title: 'Server',
    description: 'The servers of the service (vs_id), compared, over the chosen service codes.',
    filters: ['service_code', 'vs_id'],
    span: '3h',
    sections: [
      { panels: [everyServer()] },
      { title: 'Load', panels: load() },
      { title: 'Trouble', panels: trouble() },
    ],
  };
}

function everyServer() {
  return table(
    {
      title: 'Servers now',
      description: `Each server, as of the end of the time range. One that has left the listings stays for an hour, without figures but with the time since it was seen. ${HLS_NOTE}`,
      unit: 'short',
      span: 24,
      noValue: 'No server in any listing',
    },
    {
      keys: [{ label: 'vs_id', title: 'Server' }],
      columns: [
        {
          title: 'Last seen',
          expr: `time() - ${max(SERVER, q.select(C.serverLastSeen))}`,
          unit: 's',
          thresholds: thresholds('transparent', [300, 'orange']),
        },
        { title: 'Users', expr: users, unit: 'locale' },
        { title: 'Tasks', expr: tasks, unit: 'locale' },
        {
          title: 'Stalled',
          expr: stalled,
          unit: 'none',
          thresholds: thresholds('transparent', [1, 'orange']),
        },
        { title: 'Ingress', expr: ingress(q, SERVER), unit: 'bps' },
        { title: 'Egress', expr: egress(q, SERVER), unit: 'bps' },
        { title: 'Connections', expr: connections, unit: 'locale' },
      ],
      sortBy: ['Tasks', 'descending'],
    },
  );
}

function load() {
  const text = (title: string, description: string, unit: string) => ({ title, description, unit, ...THIRD });
  return [
    timeSeries(text('Users', 'Users that the listings place on the server.', 'locale'), {
      expr: users,
      legend: BY_SERVER,
    }),
    timeSeries(text('Tasks', 'Tasks of the last listings.', 'none'), { expr: tasks, legend: BY_SERVER }),
    timeSeries(text('Connections', `HTTP connections of viewers. ${HLS_NOTE}`, 'locale'), {
      expr: connections,
      legend: BY_SERVER,
    }),
    timeSeries(text('Ingress', `Bits per second that tasks receive. ${CATCH_UP_NOTE}`, 'bps'), {
      expr: ingress(q, SERVER),
      legend: BY_SERVER,
    }),
    timeSeries(
      text('Egress', `Bits per second that HTTP live output delivers. ${CATCH_UP_NOTE} ${HLS_NOTE}`, 'bps'),
      {
        expr: egress(q, SERVER),
        legend: BY_SERVER,
      },
    ),
    timeSeries(
      text(
        'Imbalance',
        'Tasks of the fullest server, in multiples of the mean. 1 is perfectly even.',
        'none',
      ),
      { expr: `max(${tasks}) / avg(${tasks})`, legend: 'fullest / mean' },
    )
      .decimals(2)
      .thresholds(thresholds('green', [3, 'orange'])),
  ];
}

function trouble() {
  return [
    timeSeries(
      {
        title: 'Stalled tasks',
        description: 'Live tasks whose input flowed once and has stood still for poll.stall_after.',
        unit: 'none',
        ...THIRD,
      },
      { expr: stalled, legend: BY_SERVER },
    ),
    timeSeries(
      { title: 'Tasks started', description: 'Tasks that appeared, per minute.', unit: 'cpm', ...THIRD },
      { expr: perMinute(sum(SERVER, q.rate(C.tasksStarted))), legend: BY_SERVER },
    ),
    timeSeries(
      { title: 'Tasks ended', description: 'Tasks that vanished, per minute.', unit: 'cpm', ...THIRD },
      { expr: perMinute(sum(SERVER, q.rate(C.tasksEnded))), legend: BY_SERVER },
    ),
  ];
}
