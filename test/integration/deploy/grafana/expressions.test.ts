import assert from 'node:assert/strict';
import { writeFileSync } from 'node:fs';
import { test } from 'node:test';
import { ALL_SELECTED, findPanel, interpolate } from '../../../support/grafana.ts';
import { isInstalled } from '../../../support/installed-programs.ts';
import { runPromtool } from '../../../support/promtool.ts';
import { TemporaryFolder } from '../../../support/temporary-folder.ts';

/** Values of series, in the notation of promtool. */
type History = readonly (readonly [series: string, values: string])[];

/** A dashboard, the title of a panel, its type, and the index of its target. */
type Place = readonly [uid: string, title: string, type: string, target?: number];

interface Case {
  readonly place: Place;
  readonly samples: readonly string[];
  readonly at?: string;
  readonly range?: string;
  readonly rateInterval?: string;
  /** How far a single value may be off, as a share of it. */
  readonly tolerance?: number;
}

/** Checks what expressions of panels return for series with a sample every `interval`. */
async function assertSamples(interval: string, history: History, cases: readonly Case[]): Promise<void> {
  using folder = new TemporaryFolder();
  const expressions = cases.map(
    ({ place, samples, at = '1m', range = '30s', rateInterval = '1m', tolerance }) => {
      const [uid, title, type, target = 0] = place;
      const values = { ...ALL_SELECTED, __range: range, __rate_interval: rateInterval };
      const expr = interpolate(findPanel(uid, title, type).targets[target]?.expr ?? '', values);
      const wanted = samples.map((sample) => {
        const [, labels, value] = /^(.*) ([\d.]+)$/.exec(sample) ?? [];
        return { labels, value: Number(value) };
      });
      return tolerance === undefined
        ? { expr, eval_time: at, exp_samples: wanted }
        : {
            expr: `abs((${expr}) / ${wanted[0]?.value} - 1) <= bool ${tolerance}`,
            eval_time: at,
            exp_samples: wanted.map(({ labels }) => ({ labels, value: 1 })),
          };
    },
  );
  const input = history.map(([series, values]) => ({ series, values }));
  const suite = { interval, input_series: input, promql_expr_test: expressions };
  writeFileSync(folder.at('tests.yml'), JSON.stringify({ evaluation_interval: '15s', tests: [suite] }));
  assert.match(await runPromtool(['test', 'rules', folder.at('tests.yml')]), /SUCCESS/);
}

const TARGET = 'job="xvs-exporter", instance="exporter:20928"';
const SCOPE = `${TARGET}, service_code="TESTING"`;
const ALERT = 'alertname="XvsIngestStopped", severity="critical", service_code="TESTING"';

test('panels keep clusters and namespaces apart, and count replicas and servers once', async (t) => {
  if (!isInstalled(t, 'promtool')) return;
  const load = ['xvs_tasks', 'xvs_server_online_users'];
  await assertSamples(
    '15s',
    [
      [`xvs_listing_users{${SCOPE}, cluster="east"}`, '100x10'],
      [`xvs_listing_users{${SCOPE}, cluster="west"}`, '20x10'],
      [`xvs_listing_users{${SCOPE}, cluster="west", namespace="live"}`, '7x10'],
      [`xvs_listing_users{${SCOPE}}`, '3x10'],
      // A replica that polls the same listing.
      [`xvs_listing_users{${SCOPE.replace('exporter:', 'replica:')}, cluster="east"}`, '100x10'],
      ...load.map((name) => [`${name}{${SCOPE}, vs_id="a", cluster="east"}`, '5x10'] as const),
      ...load.map((name) => [`${name}{${SCOPE}, vs_id="a", cluster="west"}`, '7x10'] as const),
      ...load.map((name) => [`${name}{${SCOPE}, vs_id="gone", cluster="west"}`, '0x10'] as const),
      ...load.map((name) => [`${name}{${SCOPE}, vs_id="__other__", cluster="west"}`, '2x10'] as const),
    ],
    [
      {
        place: ['xvs-overview', 'Users online', 'timeseries'],
        samples: [
          '{cluster="east", service_code="TESTING"} 100',
          '{cluster="west", namespace="live", service_code="TESTING"} 7',
          '{cluster="west", service_code="TESTING"} 20',
          '{service_code="TESTING"} 3',
        ],
      },
      { place: ['xvs-overview', 'Users online', 'stat'], samples: ['{} 130'] },
      { place: ['xvs-service-code', 'Servers', 'stat'], samples: ['{} 2'] },
    ],
  );
});

test('volumes are right without a sample at the start of the range, and over restarts and pods', async (t) => {
  if (!isInstalled(t, 'promtool')) return;
  const bytes = (labels: string): string =>
    `xvs_http_output_bytes_total{job="xvs-exporter", service_code="T", vs_id="s", format="flv", ${labels}}`;
  const pod = (address: number, name: string): string =>
    bytes(`instance="10.0.0.${address}:1", pod="${name}"`);
  const histories: readonly (readonly [History, interval: string, range: string, at: string, number])[] = [
    // 15 days of retention, and a range of 26 days.
    [[[bytes('instance="a"'), '_x263 2000000+450x361']], '1h', '26d', '26d', 450 * 360],
    [[[bytes('instance="a"'), '_x163 1000000+10x80']], '15s', '1h', '61m', 800],
    [[[bytes('instance="a"'), '_x20 0+10x40']], '15s', '15m', '15m', 400],
    [[[bytes('instance="a"'), '1000+10x30 _x30']], '15s', '15m', '15m', 300],
    [
      [0, 1, 2, 3, 4].map((index) => [
        pod(index, 'x-0'),
        `${index === 0 ? '' : `_x${index * 144} `}${1000 + 1440 * index}+10x143 _x800`,
      ]),
      '1h',
      '30d',
      '719h',
      7200,
    ],
    [
      [
        [pod(1, 'x-0'), '1000000+10x60'],
        [pod(2, 'x-1'), '5+10x60'],
      ],
      '15s',
      '15m',
      '15m',
      600,
    ],
  ];
  for (const [history, interval, range, at, truth] of histories)
    await assertSamples(interval, history, [
      {
        place: ['xvs-overview', 'Egress this month', 'stat'],
        samples: [`{} ${truth}`],
        range,
        at,
        tolerance: 0.02,
      },
    ]);
});

const codes = (count: number, values: (index: number) => string, family = 'xvs_up'): History =>
  Array.from({ length: count }, (_, index) => [
    `${family}{${TARGET}, service_code="${String(index).padStart(2, '0')}"}`,
    values(index),
  ]);
const rows = (indices: readonly number[], value: (index: number) => number): readonly string[] =>
  indices.map((index) => `{service_code="${String(index).padStart(2, '0')}"} ${value(index)}`);

test('a timeline has a row for each of few codes, the failed ones of many, or one that says all are up', async (t) => {
  if (!isInstalled(t, 'promtool')) return;
  const expect = async (history: History, samples: readonly string[]): Promise<void> => {
    const place = ['xvs-overview', 'Service codes', 'state-timeline'] as const;
    await assertSamples('15s', history, [{ place, samples, at: '3m', range: '2m' }]);
  };
  await expect(
    codes(3, () => '1x12'),
    rows([0, 1, 2], () => 1),
  );
  await expect(
    codes(60, () => '1x12'),
    ['{n="60", service_code="all 60 up"} 1'],
  );
  await expect(
    codes(60, (index) => (index === 7 ? '1x8 0x1 1x3' : '1x12')),
    rows([7], () => 0),
  );
  // Not scraped any more.
  await expect(
    codes(60, () => '1x6 stale'),
    [],
  );
});

test('a plot of many codes has the twenty largest over the range, and the sum of the others', async (t) => {
  if (!isInstalled(t, 'promtool')) return;
  // The smallest is the largest at the end.
  const history = codes(25, (index) => (index === 0 ? '0x11 1000' : `${index}x12`), 'xvs_listing_tasks');
  const ofTasks = ['xvs-overview', 'Tasks', 'timeseries'] as const;
  const shown = Array.from({ length: 20 }, (_, index) => index + 5);
  await assertSamples('15s', history, [
    { place: ofTasks, samples: rows(shown, (index) => index), at: '165s', range: '150s' },
    { place: [...ofTasks, 1], samples: ['{} 10'], at: '165s', range: '150s' },
  ]);
});

/** A code of which all polls but the last ones have succeeded. */
const current = (scope: string, listing: string, lastPoll = '7x60', lastSuccess = lastPoll): History => [
  [`xvs_listing_tasks{${scope}}`, listing],
  [`xvs_exporter_last_poll_timestamp_seconds{${scope}}`, lastPoll],
  [`xvs_exporter_last_success_timestamp_seconds{${scope}}`, lastSuccess],
];

test('rates at the end of the range are of a longer time for codes that are polled rarely', async (t) => {
  if (!isInstalled(t, 'promtool')) return;
  const rarely = SCOPE.replace('TESTING', 'RARELY');
  await assertSamples(
    '1m',
    [
      ...[SCOPE, rarely].flatMap((scope) => current(scope, '0x60')),
      [`xvs_exporter_poll_interval_seconds{${SCOPE}}`, '15x60'],
      [`xvs_exporter_poll_interval_seconds{${rarely}}`, '600x60'],
      [`xvs_input_bytes_total{${SCOPE}, vs_id="a"}`, '0+60x60'],
      // Ten minutes without a change, as with every rarely polled code.
      [`xvs_input_bytes_total{${rarely}, vs_id="a"}`, '0+120x49 5880x11'],
    ],
    [{ place: ['xvs-overview', 'Ingress', 'stat'], samples: ['{} 21'], at: '59m', tolerance: 0.02 }],
  );
});

test('a rate lasts through one failed poll, and has no value without a success within two intervals', async (t) => {
  if (!isInstalled(t, 'promtool')) return;
  const place = ['xvs-overview', 'Ingress', 'timeseries'] as const;
  const expect = async (currentListing: History): Promise<void> => {
    await assertSamples(
      '15s',
      [
        ...currentListing,
        [`xvs_exporter_poll_interval_seconds{${SCOPE}}`, '15x25'],
        [`xvs_input_bytes_total{${SCOPE}, vs_id="a"}`, '0+150x20 3000x5'],
      ],
      [
        { place, samples: ['{service_code="TESTING"} 80'], at: '300s', range: '60s' },
        { place, samples: ['{service_code="TESTING"} 60'], at: '315s', range: '60s' },
        { place, samples: [], at: '345s', range: '60s' },
      ],
    );
  };
  await expect(current(SCOPE, '0x25', '0+15x25', '0+15x20 300x5'));
  // The service has asked for a pause.
  await expect(current(SCOPE, '0x22 stale', '0+15x21 315x4', '0+15x20 300x5'));
});

test('the share of failed polls is that of the last hour for codes that are polled rarely, and never NaN', async (t) => {
  if (!isInstalled(t, 'promtool')) return;
  const reasons = ['timeout', 'dns'];
  const history = (ended: string, timeouts: string): History => [
    [`xvs_exporter_poll_interval_seconds{${SCOPE}}`, '600x120'],
    [`xvs_exporter_polls_total{${SCOPE}}`, ended],
    ...reasons.map(
      (reason) =>
        [
          `xvs_exporter_poll_errors_total{${SCOPE}, reason="${reason}"}`,
          reason === 'dns' ? '0x120' : timeouts,
        ] as const,
    ),
  ];
  const stat = ['xvs-overview', 'Failed polls', 'stat'] as const;
  const column = ['xvs-overview', 'Service codes now', 'table', 1] as const;
  const polled = Array.from({ length: 12 }, (_, index) => `${index}x9`).join(' ');
  const failing = Array.from({ length: 12 }, (_, index) => `${Math.max(0, index - 5)}x9`).join(' ');
  await assertSamples('1m', history(polled, failing), [
    { place: stat, samples: ['{} 1'], at: '119m' },
    { place: column, samples: ['{service_code="TESTING"} 1'], at: '119m' },
  ]);
  await assertSamples('1m', history('7x120', '7x120'), [{ place: stat, samples: [], at: '119m' }]);
});

test('a timeline of a week shows an outage of ten minutes', async (t) => {
  if (!isInstalled(t, 'promtool')) return;
  const outage = '1x5 0x10 1x60';
  const labels = '{service_code="TESTING", task_name="main"}';
  const task = '{service_code="TESTING", task="id", task_id="id"}';
  const at = '20m';
  const cases = [
    { place: ['xvs-overview', 'Expected streams', 'state-timeline'], samples: [`${labels} 0`], at },
    { place: ['xvs-task', 'Stalled tasks', 'state-timeline'], samples: [`${task} 2`], at },
  ] as const satisfies readonly Case[];
  await assertSamples(
    '1m',
    [
      [`xvs_expected_task_up{${SCOPE}, task_name="main"}`, outage],
      [`xvs_task_stalled{${SCOPE}, task_id="id"}`, '0x5 1x10 0x60'],
      [`xvs_task_info{${SCOPE}, task_id="id", vs_id="a", formats="flv", merging="no"}`, '1x80'],
    ],
    cases.map((one) => ({ ...one, range: '20m', rateInterval: '16m' })),
  );
});

test('an expected stream has the share of the time range in which a replica saw it up', async (t) => {
  if (!isInstalled(t, 'promtool')) return;
  const up = (instance: string): string =>
    `xvs_expected_task_up{job="xvs-exporter", instance="${instance}", service_code="TESTING", task_name="main"}`;
  const place = ['xvs-overview', 'Expected streams now', 'table', 1] as const;
  const samples = ['{service_code="TESTING", task_name="main"} 0.75'];
  const check = async (...history: History): Promise<void> => {
    await assertSamples('15s', history, [{ place, samples, at: '20m', range: '20m', tolerance: 0.01 }]);
  };
  await check([up('a'), '0x19 1x70']);
  // The second one cannot reach the service; its pod then replaces the first one.
  await check([up('a'), '0x19 1x40 stale'], [up('b'), '0x60 1x30']);
});

test('a task is flowing only if bytes of it are counted', async (t) => {
  if (!isInstalled(t, 'promtool')) return;
  const tasks = [
    ['flowing', 0, 5],
    ['silent', 0, 0],
    ['stalled', 1, 7],
    ['stalled_at_0', 1, 0],
  ] as const;
  await assertSamples(
    '15s',
    tasks.flatMap(([id, stalled, bytes]) => [
      [`xvs_task_stalled{${SCOPE}, task_id="${id}"}`, `${stalled}x10`],
      [`xvs_task_input_bytes_total{${SCOPE}, task_id="${id}"}`, `${bytes}x10`],
      [`xvs_task_info{${SCOPE}, task_id="${id}", vs_id="a", formats="flv", merging="no"}`, '1x10'],
    ]),
    [
      {
        place: ['xvs-task', 'Tasks now', 'table'],
        samples: tasks.map(
          ([id], index) =>
            `{formats="flv", merging="no", service_code="TESTING", task="${id}", task_id="${id}", vs_id="a"} ${[0, 1, 2, 2][index]}`,
        ),
      },
    ],
  );
});

test('targets of single service codes are no exporters', async (t) => {
  if (!isInstalled(t, 'promtool')) return;
  await assertSamples(
    '15s',
    [
      [`up{${TARGET}}`, '1x10'],
      [`up{${SCOPE}}`, '0x10'],
    ],
    [{ place: ['xvs-overview', 'Exporters down', 'stat'], samples: ['{} 0'] }],
  );
});

test('a server is gone by the listings of its codes, not by the time', async (t) => {
  if (!isInstalled(t, 'promtool')) return;
  await assertSamples(
    '15s',
    [
      // Polls fail for longer than three intervals.
      [`xvs_exporter_last_success_timestamp_seconds{${SCOPE}}`, '100x40'],
      [`xvs_exporter_poll_interval_seconds{${SCOPE}}`, '15x40'],
      [`xvs_server_last_seen_timestamp_seconds{${SCOPE}, vs_id="listed"}`, '99x40'],
      [`xvs_server_last_seen_timestamp_seconds{${SCOPE}, vs_id="gone"}`, '40x40'],
    ],
    [
      {
        place: ['xvs-service-code', 'Servers now', 'table'],
        samples: ['{vs_id="gone"} 0', '{vs_id="listed"} 1'],
        at: '10m',
      },
    ],
  );
});

test('the tables of alerts have those that fire, by severity, and for how many minutes of the range', async (t) => {
  if (!isInstalled(t, 'promtool')) return;
  const warning = 'alertname="XvsApiSlow", severity="warning", service_code="TESTING"';
  const others = 'alertname="XvsApiDown", severity="critical", service_code="OTHER"';
  const firing = '{alertname="XvsIngestStopped", service_code="TESTING"} 180';
  const at = '10m30s';
  const range = '5m';
  await assertSamples(
    '30s',
    [
      // Prometheus did not run for a minute.
      [`ALERTS{${ALERT}, alertstate="firing"}`, '_x15 1 1 _ _ 1 1 1'],
      [`ALERTS{${ALERT}, cluster="east", alertstate="pending"}`, '1x30'],
      [`ALERTS{${others}, alertstate="firing"}`, '1x15 stale'],
      [`ALERTS{${warning}, alertstate="firing"}`, '1x30'],
    ],
    [
      { place: ['xvs-overview', 'Critical alerts', 'table'], samples: [firing], at, range },
      { place: ['xvs-service-code', 'Critical alerts', 'table'], samples: [firing], at, range },
      {
        place: ['xvs-overview', 'Warnings', 'table'],
        samples: ['{alertname="XvsApiSlow", service_code="TESTING"} 300'],
        at,
        range,
      },
    ],
  );
});
