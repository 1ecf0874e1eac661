import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { test } from 'node:test';
import fc from 'fast-check';
import type { ExporterFacade, ServiceCodeStatus } from '../../../../src/web/exporter-facade.ts';
import { buildContentSecurityPolicy } from '../../../../src/web/status-page/document.ts';
import { parseListQuery, renderListPage } from '../../../../src/web/status-page/list-page.ts';
import {
  formatExplainCommand,
  formatServiceCodePath,
  parseServiceCodePath,
  renderServiceCodePage,
} from '../../../../src/web/status-page/service-code-page.ts';
import { arbitraryText } from '../../../support/arbitrary-text.ts';
import { createEmptyFacade } from '../fake-facade.ts';
import {
  createBreakdown,
  createDownStatus,
  createFailure,
  createHistory,
  createPolling,
  createStatus,
  createTotals,
  createWaitingStatus,
  HOSTILE_NAMES,
  NOW_MS,
  PROCESS,
} from './status-fixtures.ts';

function renderList(
  rows: readonly ServiceCodeStatus[],
  query = '',
  overrides: Partial<ExporterFacade> = {},
): string {
  const facade = createEmptyFacade({ getStatuses: () => rows, ...overrides });
  return renderListPage(facade, new URLSearchParams(query));
}

function renderCode(status: ServiceCodeStatus, overrides: Partial<ExporterFacade> = {}): string {
  const facade = createEmptyFacade({
    getStatus: () => status,
    getPolling: () => createPolling(),
    ...overrides,
  });
  return renderServiceCodePage(facade, status.serviceCode) ?? '';
}

const withProcess = (process: Partial<typeof PROCESS>): Partial<ExporterFacade> => ({
  getProcess: () => ({ ...PROCESS, ...process }),
});

function toText(html: string): string {
  return html
    .replaceAll(/<[^>]+>/g, ' ')
    .replaceAll(/\s+/g, ' ')
    .trim();
}

/** The text of a page above its footer. */
const readText = (page: string): string => toText(/<body>([^]*)<footer>/.exec(page)?.[1] ?? '');

test('values from before a failure are marked as outdated and have no rates', () => {
  const totals = createTotals({ users: 5, tasks: 6, connections: 7, ingress: undefined, egress: undefined });
  const page = renderList([createDownStatus('A', { totals, lastSuccessMs: NOW_MS - 65_000 })]);
  assert.match(page, /<tbody role="rowgroup" class="down outdated">/);
  assert.match(readText(page), /A ✕ down since 02:53 \(11 min\) 5 6 – unknown – unknown 7 65 s ago/);
  assert.match(readText(page), /The values are from 65 s ago ?\./);
});

test('a stale listing shows the reason instead of values', () => {
  const status = createDownStatus('A', { lastSuccessMs: NOW_MS - 600_000 });
  assert.match(readText(renderList([status])), /The last values are older than poll\.stale_after\./);
  assert.doesNotMatch(renderList([status]), /class="down outdated"/);
  assert.match(readText(renderCode(status)), /No recent listing\./);
});

test('each condition has its own word and symbol, and the most severe comes first', () => {
  const rows = [
    createStatus('U'),
    createWaitingStatus('W'),
    createStatus('T', { totals: createTotals({ tasks: 3, stalledTasks: 2, tasksWithoutInput: 1 }) }),
    createStatus('I', { condition: 'idle' }),
    createStatus('S', { condition: 'stale' }),
    createDownStatus('D'),
  ];
  const text = readText(renderList(rows));
  assert.match(
    text,
    /D ✕ down .*S ◆ stale .*I ◐ no traffic .*T ● up ▲ 2 stalled ▲ 1 without input .*W ○ not polled yet .*U ● up/,
  );
  assert.match(
    text,
    /1 down, 1 stale, 1 no traffic, 1 not polled yet, 2 up; 2 tasks stalled; 1 task without input/,
  );
  assert.match(text, /no byte moved between the last two listings\. Try: Check the sources/);
});

test('a failed poll is shown with its error verbatim, the remedy of this error, and links', () => {
  const message = 'Expected HTTP status 2xx, found 503';
  const failure = createFailure({
    message,
    pausedUntilMs: NOW_MS + 60_000,
    remedies: ['Wait.', 'Ask.'],
  });
  const status = createDownStatus('A B', { failure });
  for (const page of [renderList([status]), renderCode(status)]) {
    assert.match(
      readText(page),
      /Expected HTTP status 2xx, found 503\. Try: Wait\. Try: Ask\. The service asked for a pause until 03:05\. No poll has succeeded since the exporter started\. Runbook: XvsApiDown Grafana/,
    );
    assert.ok(page.includes('href="https://docs.example.com/runbook.md#XvsApiDown"'));
    assert.ok(page.includes('href="https://grafana.example.com/d/xvs-service-code?var-service_code=A%20B"'));
  }
});

test('an error message is cut, and without web.grafana_url there is no link to Grafana', () => {
  const failure = createFailure({ message: 'x'.repeat(1000) });
  const page = renderList([createDownStatus('A', { failure })], '', withProcess({ grafanaUrl: undefined }));
  assert.match(page, /<strong>x{300}\.<\/strong>/);
  assert.doesNotMatch(page, /Grafana/);
});

const EXPECTED = {
  expectedTaskCount: 2,
  expectedTasks: [
    { name: 'main', condition: 'up', outputs: 3, sinceMs: NOW_MS - 600_000 },
    { name: 'backup', condition: 'missing', outputs: undefined, sinceMs: NOW_MS - 660_000 },
  ],
} as const;

test('missing expected streams come first, by name and since when', () => {
  const missing = createStatus('M', EXPECTED);
  const list = readText(renderList([createDownStatus('D'), missing]));
  assert.match(list, /1 down, 1 up; 1 expected stream missing/);
  assert.match(
    list,
    /M ● up ▲ 1 missing .* Expected: backup has been missing since 02:53 \(11 min\)\. Try: Start the stream, .*Runbook: XvsExpectedTaskDown .* D ✕ down/,
  );
  assert.match(
    readText(renderCode(missing)),
    /Expected streams Stream State Since Outputs backup missing 11 min ago – unknown main up 10 min ago 3/,
  );
});

test('while a service code is down, its page and the list repeat what is expected and how it was', () => {
  const status = createDownStatus('D', { ...EXPECTED, lastSuccessMs: NOW_MS - 700_000 });
  const [list, page] = [readText(renderList([status])), readText(renderCode(status))];
  assert.match(list, /D ✕ down since 02:53 \(11 min\) No recent/);
  assert.match(list, /Could not connect .*Expected: main \(up\), backup \(missing\), as of 11 min ago ?\./);
  assert.match(page, /Could not connect .*Expected streams as of 11 min ago Stream State .*backup missing/);
  const counted = createDownStatus('D', { expectedTaskCount: 5 });
  for (const text of [readText(renderList([counted])), readText(renderCode(counted))])
    assert.match(text, /Expected: 5 live tasks\./);
});

test('fewer live tasks with input than expected are a problem', () => {
  const totals = createTotals({ tasks: 9, stalledTasks: 3, tasksWithoutInput: 2, tasksWithProgress: 1 });
  assert.match(
    readText(renderList([createStatus('A', { expectedTaskCount: 5, totals })])),
    /▲ 2 missing .*Expected 5 live tasks with input, found 3\..*Runbook: XvsTasksBelowExpected/,
  );
});

test('a service code that never succeeded has one line instead of plots', () => {
  const status = createDownStatus('A', { history: createHistory(['reset'], ['reset']) });
  assert.match(readText(renderList([status])), /\(11 min\) No recent poll succeeded\. – unknown/);
  for (const page of [renderList([status]), renderCode(status)]) assert.doesNotMatch(page, /class="plot /);
});

test('the plots of a new service code show its first poll', () => {
  const page = readText(renderCode(createStatus('A', { history: createHistory({ users: 5 }) })));
  assert.match(page, /The first poll as of/);
  assert.doesNotMatch(page, /The last 0 s/);
});

test('a list without rows has the reason', () => {
  assert.match(readText(renderList([])), /This exporter polls no service codes\./);
  assert.match(readText(renderList([createStatus('A')], 'q=x')), /No service code matches\. Show all/);
  assert.match(
    readText(renderList([], '', { isReady: () => false })),
    /no service codes; first polls in progress/,
  );
});

const FILTERED = [
  createStatus('small'),
  createStatus('large', { labels: { env: 'test', tenant: 'Acme' } }),
  createStatus('idle', { condition: 'idle' }),
  createDownStatus('broken'),
];

for (const [query, codes] of [
  ['', 'broken idle large small'],
  ['q=AL', 'small'],
  ['q=acme', 'large'],
  ['q=tenant=acme', 'large'],
  ['q=tenant=test', ''],
  ['q=down', 'broken'],
  ['q=no+traffic', 'idle'],
  ['page=9', 'broken idle large small'],
  ['page=1e3&q=%20&sort=size&state=up', 'broken idle large small'],
] as const) {
  test(`the list of ?${query} has ${codes || 'no rows'}`, () => {
    const found = [...renderList(FILTERED, query).matchAll(/id="code-(\w+)"/g)].map(([, code]) => code);
    assert.equal(found.join(' '), codes);
  });
}

test('every query string gives a list', () => {
  const keys = fc.constantFrom('q', 'page', 'other');
  fc.assert(
    fc.property(fc.array(fc.tuple(keys, arbitraryText())), (pairs) => {
      const { filter, page } = parseListQuery(new URLSearchParams(pairs));
      assert.ok(Array.from(filter).length <= 128 && page >= 1);
    }),
  );
  const { filter } = parseListQuery(new URLSearchParams({ q: '👍'.repeat(200) }));
  assert.equal(filter, '👍'.repeat(128));
});

test('the pages of a list have 50 rows, and the caption counts shown, matching and all service codes', () => {
  const rows = Array.from({ length: 60 }, (_, index) => createStatus(`A-${index}`));
  const caption = (query: string): string =>
    /Service codes: (.*?)\. As of/.exec(readText(renderList(rows, query)))?.[1] ?? '';
  assert.equal(caption(''), '1 to 50 of 60');
  assert.equal(caption('page=2'), '51 to 60 of 60');
  assert.equal(caption('q=-59'), '1 of 60 match');
  assert.match(renderList(rows, 'q=A-'), /href="\.\/\?q=A-&#38;page=2">Next/);
});

test('the server table marks stalled tasks, and shows at most 100 servers', () => {
  const render = (count: number) =>
    readText(
      renderCode(createStatus('A'), {
        getBreakdown: () => createBreakdown((index) => `server-${index}`, count),
      }),
    );
  assert.match(render(5), /Servers: 5 .* server-0 ▲ 3 0 40 1,000 7,000 5 s ago server-1 0 0 39 950 6,650/);
  const text = render(130);
  assert.match(text, /Servers: 130 \(30 not shown\)/);
  assert.ok(text.includes('server-99') && !text.includes('server-100'));
});

test('stalled tasks are listed by id and server', () => {
  const breakdown = createBreakdown((index) => `name-${index}`);
  const text = readText(renderCode(createStatus('A'), { getBreakdown: () => breakdown }));
  assert.match(text, /Tasks stalled the longest .*Stalled for name-0 name-1 5 min name-1 name-1 4 min/);
  assert.doesNotMatch(text, /Tasks without input/);
});

test('the page of a service code shows where, when and with what outcome it is polled', () => {
  const status = createDownStatus('A B', { httpStatus: 503 });
  const text = readText(renderCode(status, withProcess({ configurationFile: '/etc/xvs.yml' })));
  assert.match(text, /Service https:\/\/live\.example\.com:8443 HTTP status 503 ret – unknown/);
  assert.match(text, /Interval 15 s Next poll in 10 s/);
  assert.match(text, /xvs-exporter once --explain &#39;--only=A B&#39; --config\.file=\/etc\/xvs\.yml/);
});

for (const [plan, expected] of [
  [{ nextPollMs: NOW_MS - 100 }, 'in progress'],
  [{ nextPollMs: NOW_MS + 60_000, isPaused: true }, 'in 60 s (the service asked for a pause)'],
] as const) {
  test(`the next poll is ${expected}`, () => {
    const page = renderCode(createStatus('A'), { getPolling: () => createPolling(plan) });
    assert.ok(readText(page).includes(`Next poll ${expected}`));
  });
}

test('the footer shows version, shard, uptime and the last reload', () => {
  const readFooter = (process: Partial<typeof PROCESS>): string =>
    toText(/<footer>([^]*)<\/footer>/.exec(renderList([], '', withProcess(process)))?.[1] ?? '');
  assert.match(
    readFooter({ shard: { index: 2, count: 4 }, uptimeMs: 3 * 3_600_000 }),
    /xvs-exporter 1\.2\.3, shard 2 of 4, up for 3 h\. Configuration loaded 10 min ago ?\. Viewing/,
  );
  assert.match(
    readFooter({ lastFailureMs: NOW_MS - 5000 }),
    /Configuration loaded 10 min ago ?\. Reload failed 5 s ago ?; see the log\./,
  );
});

test('recent polls are listed, the latest first', () => {
  const history = createHistory({ users: 5, tasks: 6 }, ['tls'], ['http_status', 503], ['http_status', 502]);
  const text = readText(renderCode(createDownStatus('A', { history })));
  const http = 'failed The service answered with an HTTP error';
  const unknown = ' – unknown'.repeat(5);
  const expected = [
    `5 s ago ${http} (HTTP 502). 30 ms${unknown}`,
    `15 s ago ${http} (HTTP 503). 30 ms${unknown}`,
    `25 s ago failed Could not establish a trusted TLS connection to the service. 30 ms${unknown}`,
    '35 s ago ok 30 ms 5 6',
  ];
  assert.ok(text.includes(expected.join(' ')), text);
});

test('of more than 20 polls the latest are listed', () => {
  const history = createHistory(...Array.from({ length: 30 }, () => ['reset'] as const));
  const [, polls = ''] = readText(renderCode(createDownStatus('A', { history }))).split('Recent polls');
  assert.equal(polls.split('failed').length - 1, 20);
});

test('hostile names add no tags to a page', () => {
  const countTags = (page: string): number => page.split('<').length;
  const countTagsOfPages = (name: string): number[] => [
    countTags(renderList([createStatus(name)])),
    countTags(renderCode(createStatus(name), { getBreakdown: () => createBreakdown(() => name) })),
  ];
  for (const name of HOSTILE_NAMES) assert.deepEqual(countTagsOfPages(name), countTagsOfPages('plain'), name);
});

test('the Content-Security-Policy allows only the style and the script of the pages, by hash, and icons in the page', () => {
  const page = renderList([]);
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
  for (const page of [renderList([status]), renderCode(status)]) {
    assert.match(readText(page), / A env=&#60;b&#62; tenant=acme /);
    assert.doesNotMatch(page, /<b>/);
  }
});

test('a service code survives formatting and parsing of its path', () => {
  const codes = fc.oneof(
    fc.string({ unit: 'grapheme', minLength: 1 }),
    fc.constantFrom(...HOSTILE_NAMES, '.', '..', '...', '/', '%2E', '?service_code=x'),
  );
  fc.assert(
    fc.property(codes, (code) => {
      const { pathname, searchParams } = new URL(formatServiceCodePath(code), 'http://localhost/');
      assert.equal(parseServiceCodePath(pathname, searchParams), code);
    }),
  );
  assert.equal(formatServiceCodePath('\uD800'), '/service-codes/%EF%BF%BD');
});

test('a shell passes any service code of the explain command on unchanged', () => {
  const codes = fc.oneof(
    fc.constantFrom(...HOSTILE_NAMES),
    fc.string({ unit: 'binary-ascii', minLength: 1 }).filter((code) => !code.includes('\0')),
  );
  const cases = fc.sample(codes, 30);
  const script = cases
    .map((code) => formatExplainCommand(code, undefined).replace('xvs-exporter', 'p'))
    .join('\n');
  const output = execFileSync('sh', ['-c', `p() { printf '%s\\0' "$3"; }\n${script}`], { encoding: 'utf8' });
  assert.deepEqual(
    output.split('\0').slice(0, -1),
    cases.map((code) => `--only=${code}`),
  );
});
