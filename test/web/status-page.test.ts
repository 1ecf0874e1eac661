import assert from 'node:assert/strict';
import { createHash } from 'node:crypto';
import { test } from 'node:test';
import { POLL_ERROR_REASONS } from '../../src/upstream/errors.ts';
import { renderStatusPage, statusPagePolicy } from '../../src/web/status-page.ts';
import { assertGolden } from '../support/fixtures.ts';

const PAGE = { version: '1.2.3', telemetryPath: '/metrics', isReady: true, rows: [] };
const AT_MS = Date.UTC(2026, 0, 2, 3, 4, 5, 678);

test('each service code has a row with its state, its last polls and its last error in words', () => {
  const rows = [
    { serviceCode: 'UP', up: true, lastPollMs: AT_MS, lastSuccessMs: AT_MS, users: 12, tasks: 0 },
    { serviceCode: 'DOWN', up: false, lastPollMs: AT_MS, lastError: 'dns' as const },
    { serviceCode: 'WAITING', up: undefined },
  ];
  assertGolden('web/status-page.html', renderStatusPage({ ...PAGE, rows }));
});

test('nothing that it shows becomes markup', () => {
  const hostile = `<script>alert("1")</script>&'`;
  const page = renderStatusPage({
    version: hostile,
    telemetryPath: hostile,
    isReady: false,
    rows: [{ serviceCode: hostile, up: undefined }],
  });
  assert.doesNotMatch(page, /<script|alert\("/);
  assert.equal(page.split('&#60;script&#62;alert(&#34;1&#34;)&#60;/script&#62;&#38;&#39;').length, 4);
});

test('every reason of a failed poll has words', () => {
  for (const lastError of POLL_ERROR_REASONS) {
    const page = renderStatusPage({ ...PAGE, rows: [{ serviceCode: 'A', up: false, lastError }] });
    assert.match(page, /<td>[A-Z][^<]+\.<\/td><\/tr>/, lastError);
  }
});

test('its policy allows its own style and nothing else', () => {
  const [, style = ''] = /<style>([^]*)<\/style>/.exec(renderStatusPage(PAGE)) ?? [];
  const hash = createHash('sha256').update(style).digest('base64');
  assert.equal(
    statusPagePolicy(),
    `default-src 'none'; style-src 'sha256-${hash}'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'`,
  );
});
