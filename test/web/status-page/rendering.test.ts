import assert from 'node:assert/strict';
import { createHash } from 'node:crypto';
import { test } from 'node:test';
import { PollHistory } from '../../../src/poller/poll-history.ts';
import { POLL_ERROR_REASONS } from '../../../src/upstream/errors.ts';
import { renderCodePage, type CodePage } from '../../../src/web/pages/code-page.ts';
import { documentPolicy } from '../../../src/web/pages/document.ts';
import { renderListPage, type ListPage } from '../../../src/web/pages/list-page.ts';
import { DEFAULT_QUERY } from '../../../src/web/pages/list-query.ts';
import type { Share } from '../../../src/web/view.ts';
import { HOSTILE_NAMES } from './hostile-names.ts';
import { breakdownWith } from './stage.ts';
import { downStatusOf, NOW_MS, statusOf, waitingStatusOf } from './status-of.ts';
import { WHOLE } from '../../../src/sharding/shard.ts';

const ABOUT = { version: '1.2.3', telemetryPath: '/metrics', nowMs: NOW_MS };

const listPage = (page: Partial<ListPage>): string =>
  renderListPage({ ...ABOUT, shard: WHOLE, isReady: true, query: DEFAULT_QUERY, rows: [], ...page });

const codePage = (page: Partial<CodePage>): string =>
  renderCodePage({ ...ABOUT, status: statusOf('A'), breakdown: undefined, ...page });

/** What a person reads of a page, line by line. */
function textOf(page: string): string {
  const body = /<body>([^]*)<footer>/.exec(page)?.[1] ?? '';
  return body
    .replaceAll(/<[^>]+>/g, ' ')
    .replaceAll(/\s+/g, ' ')
    .trim();
}

test('figures of a listing before the failure are marked as old, and have no rates', () => {
  const figures = {
    users: 5,
    tasks: 6,
    stalledTasks: 0,
    connections: 7,
    ingress: undefined,
    egress: undefined,
  };
  const old = listPage({ rows: [downStatusOf('A', { figures, lastSuccessMs: NOW_MS - 65_000 })] });
  assert.match(old, /<tbody role="rowgroup" class="down old">/);
  assert.match(textOf(old), /A ✕ down 5 6 – not known – not known 7 65 s ago/);
  assert.match(textOf(old), /Last poll 5 s ago ?; the figures are of 65 s ago \./);
});

test('where a listing has grown stale there are no figures, and that is said', () => {
  const rows = [downStatusOf('A', { lastSuccessMs: NOW_MS - 600_000 })];
  assert.match(textOf(listPage({ rows })), /the figures of the last good one are too old to be shown\./);
  assert.doesNotMatch(listPage({ rows }), /class="down old"/);
  assert.match(textOf(codePage({ status: downStatusOf('A') })), /no good listing that is recent enough/);
});

test('each state has its word and a mark of its own', () => {
  const rows = [
    downStatusOf('D'),
    statusOf('S', { condition: 'stale' }),
    waitingStatusOf('W'),
    statusOf('U'),
  ];
  const text = textOf(listPage({ rows }));
  for (const mark of ['D ✕ down', 'S ◆ stale', 'W ○ not polled yet', 'U ● up'])
    assert.ok(text.includes(mark), mark);
  assert.match(text, /1 down, 1 stale, 1 not polled yet, 1 up/);
});

test('every reason of a failed poll has words of its own, and what to try', () => {
  const texts = POLL_ERROR_REASONS.map((lastError) => {
    const [, words = ''] =
      /<strong>([^<]+)<\/strong>\s*<span class="try">Try: [A-Z]\w+ [^<]{20,}\.<\/span>/.exec(
        listPage({ rows: [downStatusOf('A', { lastError })] }),
      ) ?? [];
    assert.match(words, /^[A-Z][^<]+\.$/, lastError);
    return words;
  });
  assert.equal(new Set(texts).size, POLL_ERROR_REASONS.length);
});

test('a refusal says with which ret', () => {
  const rows = [downStatusOf('A', { lastError: 'api_error', ret: 1005 })];
  assert.match(textOf(listPage({ rows })), /The service refused the call \(ret 1005\)\. Try:/);
});

test('tasks that stand still are told beside the state, and all together above', () => {
  const figures = { users: 5, tasks: 6, stalledTasks: 2, connections: 7, ingress: 1, egress: 1 };
  const rows = [statusOf('A', { figures }), statusOf('B', { figures })];
  assert.match(textOf(listPage({ rows })), /2 up; 4 tasks stalled .*A ● up ▲ 2 stalled 5 6/);
});

test('until the first round is over the list says so', () => {
  assert.match(
    textOf(listPage({ isReady: false })),
    /no service codes; the first round of polls is not over/,
  );
});

test('the caption says which part of how many is shown', () => {
  const rows = Array.from({ length: 60 }, (_, index) => statusOf(`A-${index}`));
  const caption = (query: Partial<ListPage['query']>): string =>
    /Service codes: (.*?)\. As of/.exec(
      textOf(listPage({ rows, query: { ...DEFAULT_QUERY, ...query } })),
    )?.[1] ?? '';
  assert.equal(caption({}), '1 to 50 of 60');
  assert.equal(caption({ page: 2 }), '51 to 60 of 60');
  assert.equal(caption({ filter: '-59' }), '1 that match, of 60');
  assert.equal(caption({ pageSize: 100 }), '60');
});

test('the largest have bars of their own, and the rest one together', () => {
  const shares = (count: number): Share[] =>
    Array.from({ length: count }, (_, index) => ({ name: `v${index}`, value: 20 - index }));
  const breakdown = { ...breakdownWith(String), usersByClientVersion: shares(13) };
  const page = codePage({ breakdown });
  assert.match(textOf(page), /Users by client version Name Number Bar v0 20 .* v9 11 3 others 27/);
  // The rest is more than the largest: no bar is longer than its place.
  const widths = [...page.matchAll(/<rect width="([\d.]+)"/g)].map(([, width]) => Number(width));
  assert.equal(Math.max(...widths), 100);
});

test('servers with tasks that stand still are told', () => {
  const breakdown = breakdownWith((index) => `server-${index}`);
  assert.match(
    textOf(codePage({ breakdown })),
    /Servers: 5 .* server-0 ▲ 3 40 1,000 7,000 5 s ago server-1 0 39/,
  );
});

test('of very many servers some are left out, and that is said', () => {
  const [server] = breakdownWith(String).servers;
  assert.ok(server !== undefined);
  const servers = Array.from({ length: 130 }, (_, index) => ({ ...server, vsId: `server-${index}` }));
  const text = textOf(codePage({ breakdown: { ...breakdownWith(String), servers } }));
  assert.match(text, /Servers: 130, of which 30 are not listed here/);
  assert.ok(text.includes('server-99') && !text.includes('server-100'));
});

test('the last polls are told, the latest first, each with its outcome', () => {
  const history = new PollHistory();
  const figures = { users: 5, tasks: 6, stalledTasks: 0, connections: 0, inputBytes: 0, outputBytes: 0 };
  history.note({ atMs: 0, durationMs: 20, figures });
  history.note({ atMs: 60_000, durationMs: 30, error: 'tls' });
  assert.match(
    textOf(codePage({ status: downStatusOf('A', { history }) })),
    /5 s ago ✕ failed A secure connection to the service could not be made\. 30 ms – not known – not known 65 s ago ● good 20 ms 5 6/,
  );
});

test('no name leaves its place, wherever it stands', () => {
  const plain = (page: string): number => page.split('<').length;
  const tags = (name: string): number[] => [
    plain(listPage({ rows: [statusOf(name)] })),
    plain(codePage({ status: statusOf(name), breakdown: breakdownWith(() => name) })),
  ];
  for (const name of HOSTILE_NAMES) assert.deepEqual(tags(name), tags('plain'), name);
});

test('the policy allows the style and the script of the pages by hash, and nothing else', () => {
  const page = listPage({});
  const hashOf = (tag: string): string => {
    const [, text = ''] = new RegExp(`<${tag}>([^]*?)</${tag}>`).exec(page) ?? [];
    return createHash('sha256').update(text).digest('base64');
  };
  assert.equal(
    documentPolicy(),
    `default-src 'none'; style-src 'sha256-${hashOf('style')}'; script-src 'sha256-${hashOf('script')}'; ` +
      "connect-src 'self'; form-action 'self'; base-uri 'none'; frame-ancestors 'none'",
  );
  assert.doesNotMatch(page, / style=| on\w+=|https?:\/\//);
});

test('labels stand beside the code, escaped, on both pages', () => {
  const status = statusOf('A', { labels: { env: '<b>', tenant: 'acme' } });
  for (const page of [listPage({ rows: [status] }), codePage({ status })]) {
    assert.match(textOf(page), / A env=&#60;b&#62; tenant=acme /);
    assert.doesNotMatch(page, /<b>/);
  }
  assert.doesNotMatch(listPage({ rows: [statusOf('A')] }), /class="labels"/);
});

test('where there is no service code, the list says why', () => {
  assert.match(textOf(listPage({})), /No service code is polled here by now\./);
  const query = { ...DEFAULT_QUERY, filter: 'nobody' };
  assert.match(textOf(listPage({ rows: [statusOf('A')], query })), /No service code matches\. Show all/);
});
