import { CATALOGUE as C } from '../../../src/metrics/catalogue/catalogue.ts';
import { thresholds } from './appearance.ts';
import type { DashboardSpec } from './dashboard-builder.ts';
import { UIDS } from './links.ts';
import { timeSeries } from './panels.ts';
import {
  BY_SCOPE,
  CATCH_UP_NOTE,
  egress,
  HLS_NOTE,
  ingress,
  legendOf,
  max,
  METERED,
  min,
  NOW_NOTE,
  OF_SCOPE,
  perMinute,
  createQueries,
  sum,
} from './queries.ts';
import { taskProblemsOverTime } from './task-problems.ts';
import { table } from './tables.ts';

const q = createQueries(['service_code', 'vs_id']);
const now = createQueries(['service_code', 'vs_id'], { isInstant: true });
const SERVER = ['vs_id'];
const BY_SERVER = legendOf('vs_id');
const NO_LISTING = 'No listing with this server';
const THIRD = { span: 8, noValue: NO_LISTING };

const users = sum(SERVER, q.last(C.serverOnlineUsers));
const tasks = sum(SERVER, q.last(C.tasks));
const stalled = sum(SERVER, q.last(C.tasksStalled));
const withoutInput = sum(SERVER, q.last(C.tasksWithoutInput));
const stalledFiles = sum(SERVER, q.last(C.fileTasksStalled));
/** Replicas that started at different times saw a task first at different times: the earliest is the best. */
const oldestTaskAge = `time() - ${min(SERVER, q.select(C.oldestTaskFirstSeen))}`;
const streams = (...matchers: readonly string[]): string => sum(SERVER, q.last(C.streams, ...matchers));
const connections = sum(SERVER, q.last(C.httpConnections, METERED));

export function server(): DashboardSpec {
  return {
    uid: UIDS.server,
    title: 'Server',
    description: 'Servers (vs_id) compared, over the selected service codes.',
    filters: ['service_code', 'vs_id'],
    span: '3h',
    sections: [
      { panels: [serverTable()] },
      { title: 'Load', panels: loadPanels() },
      { title: 'Tasks', panels: problemPanels() },
    ],
  };
}

function serverTable() {
  return table(
    {
      title: 'Servers now',
      description: `Each server at the end of the time range. A server that is no longer listed stays for an hour, with only the time since it was last seen. No input: live tasks that have never received any. Transcoded: streams of outputs. ${NOW_NOTE} ${HLS_NOTE}`,
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
        {
          title: 'Last seen',
          expr: `time() - ${max(SERVER, q.select(C.serverLastSeen))}`,
          unit: 'dtdurations',
          thresholds: thresholds('transparent', [300, 'orange']),
        },
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
        { title: 'Oldest task', expr: oldestTaskAge, unit: 'dtdurations' },
        { title: 'Transcoded', expr: streams('mode="transcode"'), unit: 'locale' },
        { title: 'Ingress', expr: ingress(now, SERVER), unit: 'bps' },
        { title: 'Egress', expr: egress(now, SERVER), unit: 'bps' },
        { title: 'Connections', expr: connections, unit: 'locale' },
      ],
      sortBy: ['Tasks', 'descending'],
    },
  );
}

function loadPanels() {
  const text = (title: string, description: string, unit: string) => ({ title, description, unit, ...THIRD });
  return [
    timeSeries(text('Users', 'Users on the server in the last listings.', 'locale'), {
      expr: users,
      legend: BY_SERVER,
    }),
    timeSeries(text('Tasks', 'Tasks on the server in the last listings.', 'none'), {
      expr: tasks,
      legend: BY_SERVER,
    }),
    timeSeries(text('Connections', `HTTP connections of viewers. ${HLS_NOTE}`, 'locale'), {
      expr: connections,
      legend: BY_SERVER,
    }),
    timeSeries(text('Ingress', `Input of tasks in bits per second. ${CATCH_UP_NOTE}`, 'bps'), {
      expr: ingress(q, SERVER),
      legend: BY_SERVER,
    }),
    timeSeries(text('Egress', `HTTP live output in bits per second. ${CATCH_UP_NOTE} ${HLS_NOTE}`, 'bps'), {
      expr: egress(q, SERVER),
      legend: BY_SERVER,
    }),
    timeSeries(
      text(
        'Imbalance',
        'Tasks of the fullest server divided by the mean. 1 is an even distribution.',
        'none',
      ),
      {
        expr: `max ${BY_SCOPE} (${tasks}) / avg ${BY_SCOPE} (${tasks})`,
        legend: `fullest / mean ${OF_SCOPE}`,
      },
    )
      .decimals(2)
      .thresholds(thresholds('green', [3, 'orange'])),
    timeSeries(
      {
        title: 'Transcoded video streams',
        description: 'Video streams of outputs that the server transcodes.',
        unit: 'locale',
        span: 8,
        noValue: 'No video stream is transcoded',
      },
      { expr: streams('codec_type="video"', 'mode="transcode"'), legend: BY_SERVER },
    ),
    timeSeries(
      {
        title: 'Transcoded audio streams',
        description: 'Audio streams of outputs that the server transcodes.',
        unit: 'locale',
        span: 8,
        noValue: 'No audio stream is transcoded',
      },
      { expr: streams('codec_type="audio"', 'mode="transcode"'), legend: BY_SERVER },
    ),
    timeSeries(
      {
        title: 'Share of transcoded streams',
        description: 'Transcoded streams divided by all streams. The others are copied.',
        unit: 'percentunit',
        span: 8,
        noValue: 'No stream is transcoded',
      },
      { expr: `${streams('mode="transcode"')} / ${streams()}`, legend: BY_SERVER },
    ).max(1),
  ];
}

function problemPanels() {
  return [
    ...taskProblemsOverTime(q, 'vs_id', 8, NO_LISTING),
    timeSeries(
      {
        title: 'Stalled file tasks',
        description: 'Tasks with progress that has not changed for poll.stall_after.',
        unit: 'none',
        ...THIRD,
      },
      { expr: stalledFiles, legend: BY_SERVER },
    ),
    timeSeries(
      {
        title: 'Tasks started',
        description: 'Started tasks per minute.',
        unit: 'suffix: tasks/min',
        ...THIRD,
      },
      { expr: perMinute(sum(SERVER, q.rate(C.tasksStarted))), legend: BY_SERVER },
    ),
    timeSeries(
      { title: 'Tasks ended', description: 'Ended tasks per minute.', unit: 'suffix: tasks/min', ...THIRD },
      { expr: perMinute(sum(SERVER, q.rate(C.tasksEnded))), legend: BY_SERVER },
    ),
    timeSeries(
      {
        title: 'Age of the oldest task',
        description:
          'Time since the exporter first saw the oldest task. Tasks much older than any event or file may never end by themselves. After a start without state, the age begins at 0.',
        unit: 'dtdurations',
        ...THIRD,
      },
      { expr: oldestTaskAge, legend: BY_SERVER },
    ),
  ];
}
