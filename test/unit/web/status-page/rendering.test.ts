import assert from 'node:assert/strict';
import { createHash } from 'node:crypto';
import { test } from 'node:test';
import { PollHistory } from '../../../../src/poller/poll-history.ts';
import {
  renderServiceCodePage,
  type ServiceCodePageProps,
} from '../../../../src/web/status-page/service-code-page.ts';
import { buildContentSecurityPolicy } from '../../../../src/web/status-page/document.ts';
import { renderListPage, type ListPageProps } from '../../../../src/web/status-page/list-page.ts';
import { DEFAULT_QUERY } from '../../../../src/web/status-page/page-urls.ts';
import type { NamedCount } from '../../../../src/web/status-page/listing-breakdown.ts';
import { HOSTILE_NAMES } from './hostile-names.ts';
import { createBreakdown } from './page-server.ts';
import {
  createDownStatus,
  createFailure,
  createPolling,
  createStatus,
  createUserHistory,
  createWaitingStatus,
  NOW_MS,
  PROCESS,
} from './status-fixtures.ts';

const COMMON_PROPS = { process: PROCESS, telemetryPath: '/metrics' };

const renderList = (props: Partial<ListPageProps>): string =>
  renderListPage({
    ...COMMON_PROPS,
    isReady: true,
    query: DEFAULT_QUERY,
    rows: [],
    ...props,
  });

const renderCode = (props: Partial<ServiceCodePageProps>): string =>
  renderServiceCodePage({
    ...COMMON_PROPS,
    status: createStatus('A'),
    polling: createPolling(),
    breakdown: undefined,
    ...props,
  });

const NO_TOTALS = {
  users: 0,
  tasks: 0,
  stalledTasks: 0,
  tasksWithoutInput: 0,
  tasksWithProgress: 0,
  connections: 0,
  inputBytes: 0,
  outputBytes: 0,
};

/** The text of a page above its footer. */
function readText(page: string): string {
  const body = /<body>([^]*)<footer>/.exec(page)?.[1] ?? '';
  return body
    .replaceAll(/<[^>]+>/g, ' ')
    .replaceAll(/\s+/g, ' ')
    .trim();
}

test('values from before a failure are marked as outdated and have no rates', () => {
  const totals = {
    users: 5,
    tasks: 6,
    stalledTasks: 0,
    tasksWithoutInput: 0,
    tasksWithProgress: 0,
    connections: 7,
    ingress: undefined,
    egress: undefined,
  };
  const page = renderList({
    rows: [createDownStatus('A', { totals, lastSuccessMs: NOW_MS - 65_000 })],
  });
  assert.match(page, /<tbody role="rowgroup" class="down outdated">/);
  assert.match(readText(page), /A ✕ down since 02:53 \(11 min\) 5 6 – unknown – unknown 7 65 s ago/);
  assert.match(readText(page), /The values are from 65 s ago ?\./);
});

test('a stale listing shows the reason instead of values', () => {
  const rows = [createDownStatus('A', { lastSuccessMs: NOW_MS - 600_000 })];
  assert.match(readText(renderList({ rows })), /The last values are older than poll\.stale_after\./);
  assert.doesNotMatch(renderList({ rows }), /class="down outdated"/);
  assert.match(readText(renderCode({ status: createDownStatus('A') })), /No recent listing\./);
});

test('each condition has its own word and symbol', () => {
  const rows = [
    createDownStatus('D'),
    createStatus('S', { condition: 'stale' }),
    createStatus('I', { condition: 'idle' }),
    createWaitingStatus('W'),
    createStatus('U'),
  ];
  const text = readText(renderList({ rows }));
  for (const expected of ['D ✕ down', 'S ◆ stale', 'I ◐ no traffic', 'W ○ not polled yet', 'U ● up'])
    assert.ok(text.includes(expected), expected);
  assert.match(text, /1 down, 1 stale, 1 no traffic, 1 not polled yet, 1 up/);
});

test('a failed poll is shown with its error verbatim, the remedy of this error, and links', () => {
  const failure = createFailure({
    message: 'Expected HTTP status 2xx, found 503',
    pausedUntilMs: NOW_MS + 60_000,
  });
  const status = createDownStatus('A B', { failure: { ...failure, remedies: ['Wait.', 'Ask.'] } });
  for (const page of [renderList({ rows: [status] }), renderCode({ status })]) {
    assert.match(
      readText(page),
      /Expected HTTP status 2xx, found 503\. Try: Wait\. Try: Ask\. The service asked for a pause until 03:05\. No poll has succeeded since the exporter started\. Runbook: XvsApiDown Grafana/,
    );
    assert.ok(page.includes('href="https://docs.example.com/runbook.md#xvsapidown"'));
    assert.ok(page.includes('href="https://grafana.example.com/d/xvs-service-code?var-service_code=A%20B"'));
  }
});

test('missing expected streams come first, by name and since when', () => {
  const missing = createStatus('M', {
    expectedTaskCount: 2,
    expectedTasks: [
      { name: 'main', condition: 'up', outputs: 3, sinceMs: NOW_MS - 600_000 },
      { name: 'backup', condition: 'missing', outputs: undefined, sinceMs: NOW_MS - 660_000 },
    ],
  });
  const list = readText(renderList({ rows: [createDownStatus('D'), missing] }));
  assert.match(list, /1 down, 1 up; 1 expected stream missing/);
  assert.match(
    list,
    /M ● up ▲ 1 missing .* Expected: backup has been missing since 02:53 \(11 min\)\. Try: Start the stream, .*Runbook: XvsExpectedTaskDown .* D ✕ down/,
  );
  assert.match(
    readText(renderCode({ status: missing })),
    /Expected streams Stream State Since Outputs backup missing 11 min ago – unknown main up 10 min ago 3/,
  );
});

test('fewer live tasks with input than expected are a problem', () => {
  const totals = {
    ...NO_TOTALS,
    ingress: 1,
    egress: 1,
    tasks: 9,
    stalledTasks: 3,
    tasksWithoutInput: 2,
    tasksWithProgress: 1,
  };
  const text = readText(renderList({ rows: [createStatus('A', { expectedTaskCount: 5, totals })] }));
  assert.match(
    text,
    /▲ 2 missing .*Expected 5 live tasks with input, found 3\..*Runbook: XvsTasksBelowExpected/,
  );
});

test('an error message is cut, and without web.grafana_url there is no link to Grafana', () => {
  const failure = createFailure({ message: 'x'.repeat(1000) });
  const process = { ...PROCESS, grafanaUrl: undefined };
  const page = renderList({ rows: [createDownStatus('A', { failure })], process });
  assert.match(page, /<strong>x{300}\.<\/strong>/);
  assert.doesNotMatch(page, /Grafana/);
});

test('a service code that never succeeded has one line instead of plots', () => {
  const history = createUserHistory('failed', 'failed');
  const status = createDownStatus('A', { history });
  assert.match(readText(renderList({ rows: [status] })), /\(11 min\) No recent poll succeeded\. – unknown/);
  for (const page of [renderList({ rows: [status] }), renderCode({ status })])
    assert.doesNotMatch(page, /class="plot /);
});

test('the plots of a new service code show its first poll', () => {
  const page = readText(renderCode({ status: createStatus('A', { history: createUserHistory(5) }) }));
  assert.match(page, /The first poll as of/);
  assert.doesNotMatch(page, /The last 0 s/);
});

test('stalled tasks are shown beside the condition and in the summary', () => {
  const totals = {
    users: 5,
    tasks: 6,
    stalledTasks: 2,
    tasksWithoutInput: 1,
    tasksWithProgress: 0,
    connections: 7,
    ingress: 1,
    egress: 1,
  };
  const rows = [createStatus('A', { totals }), createStatus('B', { totals })];
  assert.match(
    readText(renderList({ rows })),
    /2 up; 4 tasks stalled; 2 tasks without input .*A ● up ▲ 2 stalled ▲ 1 without input 5 6/,
  );
});

test('the summary mentions that the first polls are in progress', () => {
  assert.match(readText(renderList({ isReady: false })), /no service codes; first polls in progress/);
});

test('the caption counts the shown, matching and total service codes', () => {
  const rows = Array.from({ length: 60 }, (_, index) => createStatus(`A-${index}`));
  const caption = (query: Partial<ListPageProps['query']>): string =>
    /Service codes: (.*?)\. As of/.exec(
      readText(renderList({ rows, query: { ...DEFAULT_QUERY, ...query } })),
    )?.[1] ?? '';
  assert.equal(caption({}), '1 to 50 of 60');
  assert.equal(caption({ page: 2 }), '51 to 60 of 60');
  assert.equal(caption({ filter: '-59' }), '1 of 60 match');
});

test('the ten largest counts have a bar each, and the others share one', () => {
  const createCounts = (count: number): NamedCount[] =>
    Array.from({ length: count }, (_, index) => ({ name: `v${index}`, value: 20 - index }));
  const breakdown = { ...createBreakdown(String), usersByClientVersion: createCounts(13) };
  const page = renderCode({ breakdown });
  assert.match(readText(page), /Users by client version Name Count Share v0 20 .* v9 11 3 others 27/);
  // The sum of the others exceeds the largest count, and no bar exceeds its box.
  const widths = [...page.matchAll(/<rect width="([\d.]+)"/g)].map(([, width]) => Number(width));
  assert.equal(Math.max(...widths), 100);
});

test('the server table marks stalled tasks', () => {
  const breakdown = createBreakdown((index) => `server-${index}`);
  assert.match(
    readText(renderCode({ breakdown })),
    /Servers: 5 .* server-0 ▲ 3 0 40 1,000 0 b\/s 0 b\/s 7,000 5 s ago server-1 0 0 39 950 1\.00 Mb\/s – unknown 6,650/,
  );
});

test('the server table shows at most 100 servers and counts the others', () => {
  const [server] = createBreakdown(String).servers;
  assert.ok(server !== undefined);
  const servers = Array.from({ length: 130 }, (_, index) => ({ ...server, vsId: `server-${index}` }));
  const text = readText(renderCode({ breakdown: { ...createBreakdown(String), servers } }));
  assert.match(text, /Servers: 130 \(30 not shown\)/);
  assert.ok(text.includes('server-99') && !text.includes('server-100'));
});

test('tasks with the most connections and stalled tasks are listed by id and server', () => {
  const text = readText(renderCode({ breakdown: createBreakdown((index) => `name-${index}`) }));
  assert.match(text, /Tasks stalled the longest .*Stalled for name-0 name-1 5 min name-1 name-1 4 min/);
  assert.match(text, /Tasks with the most connections .*Connections name-0 name-0 1,000 name-1 name-0 950/);
  const breakdown = { ...createBreakdown(String), mostWatched: [], longestStalled: [] };
  assert.doesNotMatch(readText(renderCode({ breakdown })), /Tasks (?:stalled|with)/);
});

test('the page of a service code shows where, when and with what outcome it is polled', () => {
  const status = createDownStatus('A B', { httpStatus: 503 });
  const text = readText(renderCode({ status, process: { ...PROCESS, configurationFile: '/etc/xvs.yml' } }));
  assert.match(text, /Service https:\/\/live\.example\.com:8443 HTTP status 503 ret – unknown/);
  assert.match(text, /Interval 15 s Next poll in 10 s/);
  assert.match(text, /xvs-exporter once --explain &#39;--only=A B&#39; --config\.file=\/etc\/xvs\.yml/);
});

for (const [polling, expected] of [
  [{ nextPollMs: NOW_MS - 100 }, 'in progress'],
  [{ nextPollMs: undefined }, 'with the next scrape'],
  [{ nextPollMs: NOW_MS + 60_000, isPaused: true }, 'in 60 s (the service asked for a pause)'],
] as const) {
  test(`the next poll is ${expected}`, () => {
    assert.ok(readText(renderCode({ polling: createPolling(polling) })).includes(`Next poll ${expected}`));
  });
}

test('the footer shows version, shard, uptime and the last reload', () => {
  const readFooter = (process: Partial<typeof PROCESS>): string =>
    (/<footer>([^]*)<\/footer>/.exec(renderList({ process: { ...PROCESS, ...process } }))?.[1] ?? '')
      .replaceAll(/<[^>]+>/g, ' ')
      .replaceAll(/\s+/g, ' ');
  assert.match(
    readFooter({ shard: { index: 2, count: 4 }, uptimeMs: 3 * 3_600_000 }),
    /xvs-exporter 1\.2\.3, shard 2 of 4, up for 3 h\. Configuration loaded 10 min ago ?\. Viewing/,
  );
  assert.match(
    readFooter({ lastFailureMs: NOW_MS - 5000 }),
    /Configuration loaded 10 min ago ?\. Reload failed 5 s ago ?; see the log\./,
  );
});

test('a service code with tasks and no traffic has help', () => {
  const rows = [createStatus('A', { condition: 'idle' })];
  assert.match(
    readText(renderList({ rows })),
    /A ◐ no traffic .*Tasks run, but no byte moved between the last two listings\. Try: Check the sources/,
  );
});

test('recent polls are listed with their outcome, the latest first', () => {
  const history = new PollHistory();
  const totals = {
    users: 5,
    tasks: 6,
    stalledTasks: 0,
    tasksWithoutInput: 0,
    tasksWithProgress: 0,
    connections: 0,
    inputBytes: 0,
    outputBytes: 0,
  };
  history.append({ atMs: 0, durationMs: 20, totals });
  history.append({ atMs: 60_000, durationMs: 30, error: 'tls' });
  assert.match(
    readText(renderCode({ status: createDownStatus('A', { history }) })),
    /5 s ago failed Could not establish a trusted TLS connection to the service\. 30 ms (?:– unknown ){5}65 s ago ok 20 ms 5 6/,
  );
});

test('equal failures in a row are one row with a count and the time of the first', () => {
  const history = new PollHistory();
  const append = (atMs: number, error?: 'http_status' | 'reset', errorCode?: number): void =>
    history.append({
      atMs,
      durationMs: 30,
      ...(error === undefined ? { totals: NO_TOTALS } : { error, errorCode }),
    });
  append(0, 'reset');
  append(10_000);
  append(20_000, 'http_status', 503);
  append(30_000, 'http_status', 502);
  append(40_000, 'http_status', 502);
  append(50_000, 'http_status', 502);
  const [, text] =
    /Recent polls(.*)/.exec(readText(renderCode({ status: createDownStatus('A', { history }) }))) ?? [];
  const http = 'failed The service answered with an HTTP error';
  assert.ok(
    text?.includes(
      `5 s ago ${http} (HTTP 502). 3 polls, since 25 s ago 30 ms – unknown – unknown – unknown – unknown – unknown 35 s ago ${http} (HTTP 503). 30 ms`,
    ),
    text,
  );
  assert.equal(text?.match(/s ago (?:failed|ok)/g)?.length, 4);
});

test('failures that fill the history may have more before them', () => {
  const history = new PollHistory();
  for (let index = 0; index < 70; index += 1)
    history.append({ atMs: index * 1000, durationMs: 30, error: 'dns' });
  const status = createDownStatus('A', { history });
  assert.match(readText(renderCode({ status })), /60 or more polls, since 64 s ago/);
});

test('hostile names add no tags to a page', () => {
  const countTags = (page: string): number => page.split('<').length;
  const countTagsOfPages = (name: string): number[] => [
    countTags(renderList({ rows: [createStatus(name)] })),
    countTags(renderCode({ status: createStatus(name), breakdown: createBreakdown(() => name) })),
  ];
  for (const name of HOSTILE_NAMES) assert.deepEqual(countTagsOfPages(name), countTagsOfPages('plain'), name);
});

test('the Content-Security-Policy allows only the style and the script of the pages, by hash, and icons in the page', () => {
  const page = renderList({});
  const hashOf = (tag: string): string => {
    const [, text = ''] = new RegExp(`<${tag}>([^]*?)</${tag}>`).exec(page) ?? [];
    return createHash('sha256').update(text).digest('base64');
  };
  assert.equal(
    buildContentSecurityPolicy(),
    `default-src 'none'; style-src 'sha256-${hashOf('style')}'; script-src 'sha256-${hashOf('script')}'; ` +
      "img-src data:; connect-src 'self'; form-action 'self'; base-uri 'none'; frame-ancestors 'none'",
  );
  assert.doesNotMatch(page, / style=| on\w+=|src=/);
});

test('both pages show the labels of a service code, escaped', () => {
  const status = createStatus('A', { labels: { env: '<b>', tenant: 'acme' } });
  for (const page of [renderList({ rows: [status] }), renderCode({ status })]) {
    assert.match(readText(page), / A env=&#60;b&#62; tenant=acme /);
    assert.doesNotMatch(page, /<b>/);
  }
  assert.doesNotMatch(renderList({ rows: [createStatus('A')] }), /class="labels"/);
});

test('an empty list shows the reason', () => {
  assert.match(readText(renderList({})), /This exporter polls no service codes\./);
  const query = { ...DEFAULT_QUERY, filter: 'unknown' };
  assert.match(
    readText(renderList({ rows: [createStatus('A')], query })),
    /No service code matches\. Show all/,
  );
});
