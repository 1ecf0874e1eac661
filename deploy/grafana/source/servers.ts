import { CATALOGUE as C } from '../../../src/metrics/catalogue.ts';
import { LISTED_OR_GONE, thresholds } from './appearance.ts';
import { largestLines, timeSeries } from './panels.ts';
import {
  CATCH_UP_NOTE,
  createQueries,
  egress,
  HLS_NOTE,
  ingress,
  max,
  METERED,
  min,
  NOW_NOTE,
  ON_CODE,
  sum,
} from './queries.ts';
import { table } from './tables.ts';

const q = createQueries(['service_code', 'vs_id']);
const now = createQueries(['service_code', 'vs_id'], { window: '5m' });
const SERVER = ['vs_id'];

const users = sum(SERVER, q.last(C.serverOnlineUsers));
const tasks = sum(SERVER, q.last(C.tasks));
const stalled = sum(SERVER, q.last(C.tasksStalled));
const withoutInput = sum(SERVER, q.last(C.tasksWithoutInput));
const stalledFiles = sum(SERVER, q.last(C.fileTasksStalled));
const transcoded = sum(SERVER, q.last(C.streams, 'mode="transcode"'));
const connections = sum(SERVER, q.last(C.httpConnections, METERED));

/** The servers of the selected codes, compared. */
export function servers() {
  return [serverTable(), ...serverPanels()];
}

function serverTable() {
  // By the last listing, not by now: no server is gone because polls fail.
  const absence = `${q.last(C.lastSuccess)} - ${ON_CODE} group_right () ${q.last(C.serverLastSeen)}`;
  const isListed = `${absence} <= bool ${ON_CODE} group_left () (3 * ${q.last(C.pollInterval)})`;
  return table(
    {
      title: 'Servers now',
      description: `Each server at the end of the time range. Gone: in none of the listings of three poll intervals; it stays for an hour. No input: live tasks that have never received any. Transcoded: streams of outputs. ${NOW_NOTE} ${HLS_NOTE}`,
      unit: 'sishort',
      span: 24,
      noValue: 'No server in any listing',
    },
    {
      keys: [
        { label: 'vs_id', title: 'Server', width: 180 },
        { label: 'cluster', title: 'Cluster' },
        { label: 'namespace', title: 'Namespace' },
      ],
      columns: [
        { title: 'State', expr: max(SERVER, isListed), unit: 'none', mappings: LISTED_OR_GONE, width: 90 },
        { title: 'Users', expr: users, unit: 'locale' },
        { title: 'Tasks', expr: tasks, unit: 'locale' },
        ...[
          { title: 'Stalled', expr: stalled },
          { title: 'No input', expr: withoutInput },
          { title: 'Stalled files', expr: stalledFiles },
        ].map((column) => ({
          ...column,
          unit: 'none',
          thresholds: thresholds('transparent', [1, 'orange']),
        })),
        {
          title: 'Oldest task',
          // Replicas that started at different times saw a task first at different times: the earliest is the
          // best.
          expr: `time() - ${min(SERVER, q.select(C.oldestTaskFirstSeen))}`,
          unit: 'dtdurations',
        },
        { title: 'Transcoded', expr: transcoded, unit: 'locale' },
        { title: 'Ingress', expr: ingress(now, SERVER), unit: 'bps' },
        { title: 'Egress', expr: egress(now, SERVER), unit: 'bps' },
        { title: 'Connections', expr: connections, unit: 'locale' },
      ],
      sortBy: ['Tasks', 'descending'],
    },
  );
}

function serverPanels() {
  const panel = (title: string, description: string, unit: string, expr: string) =>
    timeSeries(
      { title, description, unit, span: 8, noValue: 'No listing with this server' },
      ...largestLines(SERVER, expr),
    );
  return [
    panel('Tasks', 'Tasks on the server in the last listings.', 'none', tasks),
    panel(
      'Stalled or without input',
      'Live tasks that have received no input for poll.stall_after.',
      'none',
      `${stalled} + ${withoutInput}`,
    ),
    panel('Transcoded streams', 'Streams of outputs that the server transcodes.', 'locale', transcoded),
    panel('Ingress', `Input of tasks in bits per second. ${CATCH_UP_NOTE}`, 'bps', ingress(q, SERVER)),
    panel(
      'Egress',
      `HTTP live output in bits per second. ${CATCH_UP_NOTE} ${HLS_NOTE}`,
      'bps',
      egress(q, SERVER),
    ),
    panel('Connections', `HTTP connections of viewers. ${HLS_NOTE}`, 'locale', connections),
  ];
}
