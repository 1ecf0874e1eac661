import assert from 'node:assert/strict';
import { createHash } from 'node:crypto';
import { test } from 'node:test';
import { PollHistory } from '../../../src/poller/poll-history.ts';
import { POLL_ERROR_REASONS } from '../../../src/upstream/errors.ts';
import {
  renderServiceCodePage,
  type ServiceCodePageProps,
} from '../../../src/web/status-page/service-code-page.ts';
import { buildContentSecurityPolicy } from '../../../src/web/status-page/document.ts';
import { renderListPage, type ListPageProps } from '../../../src/web/status-page/list-page.ts';
import { DEFAULT_QUERY } from '../../../src/web/status-page/list-query.ts';
import type { NamedCount } from '../../../src/diagnostics/listing-breakdown.ts';
import { HOSTILE_NAMES } from './hostile-names.ts';
import { createBreakdown } from './page-server.ts';
import { createDownStatus, NOW_MS, createStatus, createWaitingStatus } from './status-fixtures.ts';
import { SINGLE_SHARD } from '../../../src/sharding/shard.ts';

const COMMON_PROPS = { version: '1.2.3', telemetryPath: '/metrics', nowMs: NOW_MS };

const renderList = (props: Partial<ListPageProps>): string =>
  renderListPage({
    ...COMMON_PROPS,
    shard: SINGLE_SHARD,
    isReady: true,
    query: DEFAULT_QUERY,
    rows: [],
    ...props,
  });

const renderCode = (props: Partial<ServiceCodePageProps>): string =>
  renderServiceCodePage({ ...COMMON_PROPS, status: createStatus('A'), breakdown: undefined, ...props });

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
    connections: 7,
    ingress: undefined,
    egress: undefined,
  };
  const page = renderList({
    rows: [createDownStatus('A', { totals, lastSuccessMs: NOW_MS - 65_000 })],
  });
  assert.match(page, /<tbody role="rowgroup" class="down outdated">/);
  assert.match(readText(page), /A ✕ down 5 6 – unknown – unknown 7 65 s ago/);
  assert.match(readText(page), /Last poll 5 s ago ?; the values are from 65 s ago \./);
});

test('a stale listing shows the reason instead of values', () => {
  const rows = [createDownStatus('A', { lastSuccessMs: NOW_MS - 600_000 })];
  assert.match(readText(renderList({ rows })), /the last values are older than poll\.stale_after\./);
  assert.doesNotMatch(renderList({ rows }), /class="down outdated"/);
  assert.match(readText(renderCode({ status: createDownStatus('A') })), /No recent listing\./);
});

test('each condition has its own word and symbol', () => {
  const rows = [
    createDownStatus('D'),
    createStatus('S', { condition: 'stale' }),
    createWaitingStatus('W'),
    createStatus('U'),
  ];
  const text = readText(renderList({ rows }));
  for (const expected of ['D ✕ down', 'S ◆ stale', 'W ○ not polled yet', 'U ● up'])
    assert.ok(text.includes(expected), expected);
  assert.match(text, /1 down, 1 stale, 1 not polled yet, 1 up/);
});

test('every error reason has its own summary and a remedy', () => {
  const summaries = POLL_ERROR_REASONS.map((lastError) => {
    const [, summary = ''] =
      /<strong>([^<]+)<\/strong>\s*<span class="try">Try: [A-Z]\w+ [^<]{20,}[.…]<\/span>/.exec(
        renderList({ rows: [createDownStatus('A', { lastError })] }),
      ) ?? [];
    assert.match(summary, /^[A-Z][^<]+\.$/, lastError);
    return summary;
  });
  assert.equal(new Set(summaries).size, POLL_ERROR_REASONS.length);
});

test('the error help of a rejection shows its ret', () => {
  const rows = [createDownStatus('A', { lastError: 'api_error', ret: 1005 })];
  assert.match(readText(renderList({ rows })), /The service rejected the request \(ret 1005\)\. Try:/);
});

test('stalled tasks are shown beside the condition and in the summary', () => {
  const totals = { users: 5, tasks: 6, stalledTasks: 2, connections: 7, ingress: 1, egress: 1 };
  const rows = [createStatus('A', { totals }), createStatus('B', { totals })];
  assert.match(readText(renderList({ rows })), /2 up; 4 tasks stalled .*A ● up ▲ 2 stalled 5 6/);
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
  assert.equal(caption({ pageSize: 100 }), '60');
});

test('the ten largest counts have a bar each, and the others share one', () => {
  const createCounts = (count: number): NamedCount[] =>
    Array.from({ length: count }, (_, index) => ({ name: `v${index}`, value: 20 - index }));
  const breakdown = { ...createBreakdown(String), usersByClientVersion: createCounts(13) };
  const page = renderCode({ breakdown });
  assert.match(readText(page), /Users by client version Name Count Bar v0 20 .* v9 11 3 others 27/);
  // The sum of the others exceeds the largest count, and no bar exceeds its box.
  const widths = [...page.matchAll(/<rect width="([\d.]+)"/g)].map(([, width]) => Number(width));
  assert.equal(Math.max(...widths), 100);
});

test('the server table marks stalled tasks', () => {
  const breakdown = createBreakdown((index) => `server-${index}`);
  assert.match(
    readText(renderCode({ breakdown })),
    /Servers: 5 .* server-0 ▲ 3 40 1,000 7,000 5 s ago server-1 0 39/,
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

test('recent polls are listed with their outcome, the latest first', () => {
  const history = new PollHistory();
  const totals = { users: 5, tasks: 6, stalledTasks: 0, connections: 0, inputBytes: 0, outputBytes: 0 };
  history.append({ atMs: 0, durationMs: 20, totals });
  history.append({ atMs: 60_000, durationMs: 30, error: 'tls' });
  assert.match(
    readText(renderCode({ status: createDownStatus('A', { history }) })),
    /5 s ago ✕ failed Could not establish a trusted TLS connection to the service\. 30 ms – unknown – unknown 65 s ago ● ok 20 ms 5 6/,
  );
});

test('hostile names add no tags to a page', () => {
  const countTags = (page: string): number => page.split('<').length;
  const countTagsOfPages = (name: string): number[] => [
    countTags(renderList({ rows: [createStatus(name)] })),
    countTags(renderCode({ status: createStatus(name), breakdown: createBreakdown(() => name) })),
  ];
  for (const name of HOSTILE_NAMES) assert.deepEqual(countTagsOfPages(name), countTagsOfPages('plain'), name);
});

test('the Content-Security-Policy allows only the style and the script of the pages, by hash', () => {
  const page = renderList({});
  const hashOf = (tag: string): string => {
    const [, text = ''] = new RegExp(`<${tag}>([^]*?)</${tag}>`).exec(page) ?? [];
    return createHash('sha256').update(text).digest('base64');
  };
  assert.equal(
    buildContentSecurityPolicy(),
    `default-src 'none'; style-src 'sha256-${hashOf('style')}'; script-src 'sha256-${hashOf('script')}'; ` +
      "connect-src 'self'; form-action 'self'; base-uri 'none'; frame-ancestors 'none'",
  );
  assert.doesNotMatch(page, / style=| on\w+=|https?:\/\//);
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
