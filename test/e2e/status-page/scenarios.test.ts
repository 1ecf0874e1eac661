import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Page } from 'playwright-core';
import type { ServiceCodeStatus } from '../../../src/web/exporter-facade.ts';
import { waitForValue } from '../../support/wait-until.ts';
import {
  createDownStatus,
  createFailure,
  createHistory,
  createLosses,
  createPolling,
  createStatus,
  createTotals,
  createWaitingStatus,
  minutesAgo,
  NOW_MS,
} from '../../unit/web/status-page/status-fixtures.ts';
import { readServiceCodes, readTable, readText, testPage } from './page-test.ts';

const MINUTE_MS = 60_000;

const EXPECTED = {
  expectedTaskCount: 2,
  expectedTasks: [
    { name: 'main', condition: 'up', outputs: 3, sinceMs: NOW_MS - 10 * MINUTE_MS },
    { name: 'backup', condition: 'missing', outputs: undefined, sinceMs: NOW_MS - 11 * MINUTE_MS },
  ],
} as const;

const RUNNING = { ...EXPECTED.expectedTasks[0], connections: 7, inputRate: 150_000 };
const SLOW = {
  ...RUNNING,
  minima: { name: 'main', inputBytesPerSecond: 250_000 },
  slowSinceMs: NOW_MS - 10 * MINUTE_MS,
};
const FEWER = { ...RUNNING, outputs: 2, fewerOutputs: { than: 3, sinceMs: NOW_MS - 10 * MINUTE_MS } };

interface Scenario {
  readonly status: ServiceCodeStatus;
  /** What the list and the page say about its state. */
  readonly state: string;
  /** What the page says about its problem, by default none. */
  readonly problem?: string;
  /** Whether the list shows the problem, too. Default: true. */
  readonly isInList?: boolean;
  /** What the page says about a problem that is less severe. */
  readonly further?: string;
  /** What leads to help. */
  readonly runbook?: string;
}

/** In the order of the list: the most severe first. */
const SCENARIOS: Readonly<Record<string, Scenario>> = {
  'polls fail after good ones': {
    status: createDownStatus('DOWN-NOW', {
      totals: createTotals({ users: 5, tasks: 1, ingress: undefined, egress: undefined }),
      lastSuccessMs: NOW_MS - 65_000,
      ...EXPECTED,
    }),
    state: '✕ down since 02:53 (11 min) ▲ 1 missing',
    problem: 'Expected: backup has been missing since 02:53 (11 min).',
    further: 'The values are from 65 s ago.',
    runbook: 'XvsExpectedTaskDown',
  },
  'an expected task is missing': {
    status: createStatus('MISSING', EXPECTED),
    state: '● up ▲ 1 missing',
    problem: 'Expected: backup has been missing since 02:53 (11 min).',
    runbook: 'XvsExpectedTaskDown',
  },
  'more tasks are missing than names are down': {
    status: createStatus('MISSING-TOO', {
      expectedTaskCount: 20,
      expectedTasks: [{ ...EXPECTED.expectedTasks[1], name: 'main' }],
      totals: createTotals({ tasks: 10 }),
    }),
    state: '● up ▲ 10 missing',
    problem: 'Expected: main has been missing since 02:53 (11 min).',
    further: 'Expected 20 live tasks with input, found 10.',
    runbook: 'XvsExpectedTaskDown',
  },
  'an expected task was never listed': {
    status: createStatus('NEVER', {
      expectedTaskCount: 1,
      expectedTasks: [{ name: 'main', condition: 'missing', outputs: undefined, sinceMs: undefined }],
    }),
    state: '● up ▲ 1 missing',
    problem: 'Expected: main has been missing since the start.',
    runbook: 'XvsExpectedTaskDown',
  },
  'fewer tasks run than are expected': {
    status: createStatus('TOO-FEW', {
      expectedTaskCount: 5,
      totals: createTotals({ tasks: 9, stalledTasks: 3, tasksWithoutInput: 2, tasksWithProgress: 1 }),
    }),
    state: '● up ▲ 2 missing ▲ 3 stalled ▲ 2 without input',
    problem: 'Expected 5 live tasks with input, found 3.',
    runbook: 'XvsTasksBelowExpected',
  },
  'polls fail': {
    status: createDownStatus('DOWN', {
      failure: createFailure({
        message: 'Expected HTTP status 2xx, found 503',
        remedies: ['Wait.', 'Ask.'],
        pausedUntilMs: NOW_MS + MINUTE_MS,
      }),
    }),
    state: '✕ down since 02:53 (11 min)',
    problem:
      'Expected HTTP status 2xx, found 503. Try: Wait. Try: Ask. The service asked for a pause until 03:05. No poll of this process has succeeded.',
    runbook: 'XvsApiDown',
  },
  'the last good listing is too old': {
    status: createStatus('STALE', { condition: 'stale', totals: undefined }),
    state: '◆ stale',
    problem: 'The last good listing is older than poll.stale_after.',
    runbook: 'XvsApiDown',
  },
  'an expected stream is slow': {
    status: createStatus('SLOW', { expectedTaskCount: 1, expectedTasks: [SLOW] }),
    state: '● up ▲ main slow since 02:54',
    problem: 'Expected: main slow since 02:54. Try: Check the bit rate of the encoder and its uplink.',
    runbook: 'XvsExpectedTaskSlow',
  },
  'most live tasks receive nothing': {
    status: createStatus('STOPPED', {
      condition: 'idle',
      losses: createLosses({ ingest: { before: 4, since: minutesAgo(10) } }),
      totals: createTotals({ tasks: 5, tasksWithProgress: 1, stalledTasks: 2, tasksWithoutInput: 1 }),
    }),
    state: '◐ no traffic ▲ 2 stalled ▲ 1 without input',
    problem: 'Most of 4 live tasks have received nothing since 02:54 (10 min). Try: Check the entry points',
    runbook: 'XvsIngestStopped',
  },
  'servers deliver nothing to their viewers': {
    status: createStatus('STOPPED-TWICE', {
      losses: createLosses({
        deliveries: [
          { vsId: 'edge-1', format: 'flv', before: 5, since: minutesAgo(10) },
          { vsId: 'edge-1', format: 'ts', before: 5, since: minutesAgo(2) },
          { vsId: 'edge-2', format: 'flv', before: 5, since: minutesAgo(10) },
        ],
      }),
    }),
    state: '● up ▲ 2 servers without delivery',
    problem:
      'Viewers have received no flv from edge-1 since 02:54 (10 min), no ts from edge-1 since 03:02 (2 min), no flv from edge-2 since 02:54 (10 min).',
    runbook: 'XvsDeliveryBlackhole',
  },
  'a certificate of the service expires tomorrow': {
    status: createStatus('CERTIFICATE', { certificateNotAfterMs: NOW_MS + 36 * 60 * MINUTE_MS }),
    state: '● up ▲ certificate expires in 36 h',
    problem: 'A certificate by which the service is verified expires in 36 h.',
    runbook: 'XvsUpstreamCertificateExpires',
  },
  'a certificate of the service expires next week': {
    status: createStatus('CERTIFICATE-TOO', { certificateNotAfterMs: NOW_MS + 10 * 24 * 60 * MINUTE_MS }),
    state: '● up ▲ certificate expires in 10 d',
    problem: 'A certificate by which the service is verified expires in 10 d.',
    isInList: false,
    runbook: 'XvsUpstreamCertificateExpires',
  },
  'a good listing has lost its tasks': {
    status: createStatus('LOST', {
      condition: 'lost',
      lastPollMs: NOW_MS,
      losses: createLosses({ tasks: { before: 30, since: minutesAgo(62) } }),
      totals: createTotals(),
    }),
    state: '▼ lost ▲ tasks 30 → 0 since 02:02',
    problem: 'The listing lost most tasks: tasks 30 → 0 since 02:02.',
    runbook: 'XvsTasksDropped',
  },
  'most tasks and users are lost, and servers are gone': {
    status: createStatus('LOST-ALL', {
      condition: 'lost',
      losses: createLosses({
        tasks: { before: 1, since: minutesAgo(2) },
        users: { before: 100, since: minutesAgo(1) },
        servers: Array.from({ length: 12 }, (_, index) => ({
          vsId: `edge-${index}`,
          before: 2,
          since: minutesAgo(2),
        })),
      }),
      totals: createTotals({ users: 40 }),
    }),
    state: '▼ lost ▲ tasks 1 → 0 since 03:02 ▲ users 100 → 40 since 03:03 ▲ 12 servers gone',
    problem: 'The listing lost most tasks: tasks 1 → 0 since 03:02.',
    further: 'edge-9 with 2 tasks since 03:02 (2 min) and 2 more.',
    runbook: 'XvsTasksDropped',
  },
  'a good listing has lost most of its users': {
    status: createStatus('LOST-USERS', {
      condition: 'lost',
      losses: createLosses({ users: { before: 50_000, since: minutesAgo(1) } }),
      totals: createTotals({ users: 3 }),
    }),
    state: '▼ lost ▲ users 50.0 k → 3 since 03:03',
    problem: 'The listing lost most users: users 50.0 k → 3 since 03:03.',
    runbook: 'XvsUsersDropped',
  },
  'bytes only wait': {
    status: createStatus('WAITS', { condition: 'idle', totals: createTotals({ byteCountsWaiting: 12 }) }),
    state: '◐ no traffic ▲ 12 byte counts wait',
    problem: '12 byte counts of the last listing wait until the next ones confirm them.',
    runbook: 'XvsBytesImplausible',
  },
  'no byte moves': {
    status: createStatus('NO-TRAFFIC', { condition: 'idle' }),
    state: '◐ no traffic',
    problem:
      'Tasks run, but no byte moved between the last two listings. Try: Contact the owners of the streams.',
    runbook: 'XvsIngestStalled',
  },
  'tasks are stalled': {
    status: createStatus('XSTALLED', {
      totals: createTotals({ tasks: 3, stalledTasks: 2, tasksWithoutInput: 1 }),
    }),
    state: '● up ▲ 2 stalled ▲ 1 without input',
    problem: '2 tasks stalled: their input flowed and has stopped. Try: Contact the owners of the streams.',
    isInList: false,
    runbook: 'XvsIngestStalled',
  },
  'tasks are without input': {
    status: createStatus('XWITHOUT', { totals: createTotals({ tasks: 3, tasksWithoutInput: 1 }) }),
    state: '● up ▲ 1 without input',
    problem: '1 task never received input.',
    isInList: false,
    runbook: 'XvsTasksWithoutInput',
  },
  'expected streams have fewer outputs': {
    status: createStatus('XXXFEWER', {
      expectedTaskCount: 2,
      expectedTasks: [FEWER, { ...FEWER, name: 'backup' }],
    }),
    state: '● up ▲ 2 with fewer outputs',
    problem: 'Expected: main 2 of 3 outputs since 02:54, backup 2 of 3 outputs since 02:54.',
    isInList: false,
    runbook: 'XvsRenditionMissing',
  },
  'the first poll is in progress': {
    status: createWaitingStatus('YWAITING'),
    state: '○ not polled yet',
  },
  'records are rejected': {
    status: createStatus('ZREJECTED', {
      totals: createTotals({
        rejected: { count: 106, first: { record: 'task', reason: 'invalid_id', index: 3 } },
      }),
    }),
    state: '● up ▲ 106 rejected, first task_list[3]: invalid_id',
  },
  'tasks have no accounts': {
    status: createStatus('ZUNCOUNTED', { totals: createTotals({ tasksWithoutAccount: 12 }) }),
    state: '● up ▲ 12 tasks without accounts',
  },
  'all is well': { status: createStatus('ZZ'), state: '● up' },
};

const ROWS = Object.values(SCENARIOS).map(({ status }) => status);

/** The part of the list about a service code. */
const findInList = (page: Page, serviceCode: string) =>
  page.getByRole('rowgroup').filter({ has: page.getByRole('link', { name: serviceCode, exact: true }) });

test('the list tells the truth about every scenario, the most severe first', async (t) => {
  await testPage(t, ROWS.toReversed(), '/', async ({ page }) => {
    assert.deepEqual(
      await readServiceCodes(page),
      ROWS.map(({ serviceCode }) => serviceCode),
    );
    for (const [name, scenario] of Object.entries(SCENARIOS)) {
      const { status, state, problem, runbook, isInList = true } = scenario;
      const group = findInList(page, status.serviceCode);
      assert.equal(await readText(group.getByRole('cell').first()), state, name);
      const isExplained = problem !== undefined && isInList;
      assert.equal(await group.getByRole('row').count(), isExplained ? 2 : 1, name);
      if (!isExplained) continue;
      assert.ok((await readText(group)).includes(problem), name);
      if (runbook !== undefined) await group.getByRole('link', { name: `Runbook: ${runbook}` }).waitFor();
    }
  });
});

test('the page of a service code tells the truth about every scenario', async (t) => {
  await testPage(t, ROWS, '/', async ({ page, base }) => {
    for (const [name, { status, state, problem, further, runbook }] of Object.entries(SCENARIOS)) {
      await page.goto(`${base}/service-codes/?service_code=${status.serviceCode}`);
      assert.equal(await readText(page.getByRole('status')), state, name);
      for (const text of [problem, further])
        if (text !== undefined) assert.ok((await readText(page.getByRole('main'))).includes(text), name);
      if (runbook !== undefined)
        await page
          .getByRole('link', { name: `Runbook: ${runbook}` })
          .first()
          .waitFor();
    }
  });
});

test('the summary counts conditions, and what is missing and stalled', async (t) => {
  await testPage(t, ROWS, '/', async ({ page }) => {
    assert.equal(
      await readText(page.getByRole('status')),
      '2 down, 1 stale, 3 lost, 3 no traffic, 1 not polled yet, 14 up; 15 expected streams missing; 1 expected stream slow; 2 servers without delivery; 7 tasks stalled; 5 tasks without input',
    );
  });
});

test('what pages looks like what is down, whatever the state: in the list and on the page', async (t) => {
  const idle = createStatus('IDLE', { ...EXPECTED, condition: 'idle' });
  await testPage(t, [...ROWS, idle], '/', async ({ page, base }) => {
    const readStyle = async (element: string, property: string): Promise<unknown> =>
      await page.evaluate(`getComputedStyle(${element}).${property}`);
    const readBar = (code: string) =>
      readStyle(`document.getElementById('code-${code}').closest('th')`, 'borderLeft');
    const down = await readBar('DOWN');
    for (const code of ['MISSING', 'SLOW', 'STOPPED', 'STOPPED-TWICE', 'IDLE'])
      assert.equal(await readBar(code), down, code);
    for (const code of ['ZZ', 'NO-TRAFFIC']) assert.notEqual(await readBar(code), down, code);
    const readBackground = async (code: string): Promise<unknown> => {
      await page.goto(`${base}/service-codes/?service_code=${code}`);
      return await readStyle(`document.querySelector('main .problem')`, 'backgroundColor');
    };
    const red = await readBackground('DOWN');
    for (const code of ['SLOW', 'IDLE']) assert.equal(await readBackground(code), red, code);
    assert.notEqual(await readBackground('XSTALLED'), red);
  });
});

test('outdated values have no rates, and unknown ones are no zeros', async (t) => {
  const rows = [
    createDownStatus('A', {
      totals: createTotals({ users: 5, tasks: 6, connections: 7, ingress: undefined, egress: undefined }),
      lastSuccessMs: NOW_MS - 65_000,
    }),
    createDownStatus('B'),
    createWaitingStatus('C'),
  ];
  await testPage(t, rows, '/', async ({ page }) => {
    const readCells = async (code: string): Promise<string[]> => {
      const cells = await findInList(page, code).getByRole('row').first().getByRole('cell').all();
      return (await Promise.all(cells.map(readText))).slice(1);
    };
    assert.deepEqual(await readCells('A'), ['5', '6', '– unknown', '– unknown', '7', '65 s ago']);
    const unknown = Array.from({ length: 6 }, () => '– unknown');
    assert.deepEqual([await readCells('B'), await readCells('C')], [unknown, unknown]);
  });
});

test('while a service code is down, its page and the list repeat what is expected and how it was', async (t) => {
  const rows = [
    createDownStatus('D', { ...EXPECTED, lastSuccessMs: NOW_MS - 700_000 }),
    createDownStatus('COUNTED', { expectedTaskCount: 5 }),
  ];
  await testPage(t, rows, '/', async ({ page, base }) => {
    await findInList(page, 'D')
      .getByText('Expected: main (up), backup (missing), as of 11 min ago.')
      .waitFor();
    await findInList(page, 'COUNTED').getByText('Expected: 5 live tasks.').waitFor();
    await page.goto(`${base}/service-codes/?service_code=D`);
    assert.deepEqual(await readTable(page, 'Expected streams as of 11 min ago'), [
      ['backup', 'missing', '11 min ago', '– unknown', '– unknown', '– unknown'],
      ['main', 'up', '10 min ago', '– unknown', '– unknown', '3'],
    ]);
  });
});

test('the page shows what each expected stream carries beside its minimum, and what it lacks', async (t) => {
  const well = { ...RUNNING, name: 'guest', minima: { name: 'guest', outputs: 3 } };
  const status = createStatus('A', {
    expectedTaskCount: 3,
    expectedTasks: [well, SLOW, { ...FEWER, name: 'backup' }],
  });
  await testPage(t, [status], '/service-codes/?service_code=A', async ({ page }) => {
    assert.deepEqual(await readTable(page, 'Expected streams'), [
      ['main', 'up ▲ slow since 02:54', '10 min ago', '1.20 Mb/s of 2.00 Mb/s', '7', '3'],
      ['backup', 'up ▲ 2 of 3 outputs since 02:54', '10 min ago', '1.20 Mb/s', '7', '2'],
      ['guest', 'up', '10 min ago', '1.20 Mb/s', '7', '3 of 3'],
    ]);
  });
});

test('a table of more than ten rows ends with a link to all, which a refresh keeps', async (t) => {
  const history = createHistory(
    { users: 5, tasks: 6 },
    ['tls'],
    ...Array.from({ length: 23 }, () => ['http_status', 503] as const),
  );
  const status = createStatus('A', { history });
  await testPage(t, [status], '/service-codes/?service_code=A', async ({ server, page }) => {
    const [latest] = await readTable(page, 'Recent polls');
    const unknown = Array.from({ length: 5 }, () => '– unknown');
    const failed = 'failed The service answered with an HTTP error (HTTP 503).';
    assert.deepEqual(latest, ['5 s ago', failed, '30 ms', ...unknown]);
    assert.equal((await readTable(page, 'Recent polls')).length, 10);
    await page.getByRole('link', { name: 'All 25 rows' }).click();
    const all = await readTable(page, 'Recent polls');
    assert.deepEqual(
      [all.length, all.at(-1)?.slice(1, 5), all.at(-2)?.[1]],
      [25, ['ok', '30 ms', '5', '6'], 'failed Could not establish a trusted TLS connection to the service.'],
    );
    server.rows = [{ ...status, httpStatus: 299 }];
    await page.clock.runFor(5000);
    await page.getByText('299').waitFor();
    assert.equal((await readTable(page, 'Recent polls')).length, 25);
  });
});

test('the page of a service code shows servers, tasks, and where and when it is polled', async (t) => {
  const status = createStatus('A B', { httpStatus: 200, labels: { env: '<b>', tenant: 'acme' } });
  await testPage(t, [status], '/service-codes/?service_code=A%20B', async ({ server, page }) => {
    assert.deepEqual((await readTable(page, 'Servers: 5')).slice(0, 2), [
      ['name-0', '▲ 3', '0', '40', '1,000', '0 b/s', '7,000', '5 s ago'],
      ['name-1', '0', '0', '39', '950', '1.00 Mb/s', '6,650', '5 s ago'],
    ]);
    assert.deepEqual(await readTable(page, 'Tasks stalled the longest'), [
      ['name-0 name-1', '5 min'],
      ['name-1 name-1', '4 min'],
    ]);
    const polling = page.getByRole('region', { name: 'Polling' });
    assert.equal(
      await readText(polling),
      'Polling Service https://live.example.com:8443 HTTP status 200 ret 0 Last poll 5 s ago, took – unknown ' +
        'Last success 5 s ago Interval 15 s Next poll in 10 s ' +
        "To see each step of a poll, run, with the environment of the exporter: node /opt/main.js once --explain '--only=A B' --config.file=/etc/xvs.yml",
    );
    await page.getByText('env=<b>').waitFor();
    const grafana = page.getByRole('link', { name: 'Grafana' });
    assert.equal(
      await grafana.getAttribute('href'),
      'https://grafana.example.com/d/xvs-service-code?var-service_code=A%20B',
    );
    server.polling = createPolling({ nextPollInMs: MINUTE_MS, isPaused: true });
    await page.clock.runFor(5000);
    await polling.getByText('in 60 s (the service asked for a pause)').waitFor();
    server.polling = createPolling({ nextPollInMs: -100 });
    await page.clock.runFor(5000);
    await polling.getByText('in progress').waitFor();
  });
});

test('the list is filtered by service code, label, stream, state and mark', async (t) => {
  const rows = [
    createStatus('small'),
    createStatus('large', { labels: { env: 'test', tenant: 'Acme' } }),
    createStatus('idle', { condition: 'idle' }),
    createDownStatus('broken'),
    createStatus('short', { expectedTaskCount: 5, expectedTasks: [{ ...SLOW, name: 'studio' }] }),
    createStatus('odd', { totals: createTotals({ rejected: { count: 1, first: undefined } }) }),
  ];
  await testPage(t, rows, '/', async ({ page, base }) => {
    for (const [query, codes] of [
      ['', 'short broken idle large odd small'],
      ['q=AL', 'small'],
      ['q=acme', 'large'],
      ['q=tenant=acme', 'large'],
      ['q=down', 'broken'],
      ['q=no+traffic', 'idle'],
      ['q=tenant=test', ''],
      ['q=missing', 'short'],
      ['q=slow', 'short'],
      ['q=Studio', 'short'],
      ['q=rejected', 'odd'],
    ] as const) {
      await page.goto(`${base}/?${query}`);
      assert.equal((await readServiceCodes(page)).join(' '), codes, query);
      assert.equal(await page.getByText('No service code matches. Show all').isVisible(), codes === '');
    }
  });
});

test('the foot says how the process runs, and which files have lost service codes', async (t) => {
  await testPage(t, [], '/', async ({ server, page }) => {
    const foot = page.getByRole('contentinfo');
    await page.getByText('This exporter polls no service codes.').waitFor();
    await foot
      .getByText('xvs-exporter 1.2.3, shard 0 of 1, up for 60 min. Configuration loaded 10 min ago.')
      .waitFor();
    const untilMs = NOW_MS - 2 * MINUTE_MS;
    server.process = { codeLosses: [{ file: 'codes.d/a.yml', codes: 5, before: 6, untilMs }] };
    await page.clock.runFor(5000);
    await foot.getByText('codes.d/a.yml: 5 codes, 6 until 03:02.').waitFor();
  });
});

test('the headline says what is wrong with the process, and every page how to mend it', async (t) => {
  await testPage(t, [createStatus('A')], '/', async ({ server, page, base }) => {
    server.process = {
      lastFailureMs: NOW_MS - 5000,
      stateUnwrittenSinceMs: NOW_MS - 11 * MINUTE_MS,
      webCertificateNotAfterMs: NOW_MS + 36 * 60 * MINUTE_MS,
      clientCertificateNotAfterMs: NOW_MS - 36 * 60 * MINUTE_MS,
      liveAccountShare: 0.93,
    };
    await page.clock.runFor(5000);
    const headline =
      '1 up; reload failed; state not written; certificate expires; client certificate expires; accounts near their limit';
    await waitForValue(() => readText(page.getByRole('status')), headline);
    assert.equal(await page.title(), `${headline} · xvs-exporter`);
    for (const path of ['/', '/service-codes/?service_code=A']) {
      await page.goto(base + path);
      for (const [text, alert] of [
        [
          'The reload 5 s ago failed; the configuration before it is in effect. Try: Correct',
          'ConfigReloadFailed',
        ],
        [
          'The state is not written since 02:53 (11 min). A restart on a full disk ends with exit code 1',
          'StateNotWritten',
        ],
        ['The TLS certificate of this exporter expires in 36 h. Try: Renew', 'CertificateExpires'],
        ['The certificate in upstream.cert_file expired 36 h ago.', 'UpstreamCertificateExpires'],
        ['93 % of the accounts are in use. Beyond them, bytes', 'BytesNotCounted'],
      ] as const) {
        const problem = page
          .locator('.problem')
          .filter({ has: page.getByRole('link', { name: `Runbook: Xvs${alert}`, exact: true }) });
        assert.ok((await readText(problem)).startsWith(text), text);
      }
    }
    server.process = { isStateOpen: false };
    await page.goto(`${base}/`);
    assert.equal(await readText(page.getByRole('status')), '1 up; no state');
  });
});
