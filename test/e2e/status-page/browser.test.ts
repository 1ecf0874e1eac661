import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Page } from 'playwright-core';
import { z } from 'zod';
import type { ExpectedTask } from '../../../src/tally/expectations.ts';
import type { ServiceCodeStatus } from '../../../src/web/exporter-facade.ts';
import { respond, respondText } from '../../../src/web/http-messages.ts';
import type { PageOptions } from '../../support/chromium.ts';
import { waitForValue, waitUntil } from '../../support/wait-until.ts';
import {
  createBreakdown,
  createDownStatus,
  createStatus,
  createTotals,
  createWaitingStatus,
  HOSTILE_NAMES,
  NOW_MS,
  createLosses,
  minutesAgo,
} from '../../unit/web/status-page/status-fixtures.ts';
import { createHistoryWithFailures } from './page-server.ts';
import { readServiceCodes, testPage, type PageContext } from './page-test.ts';

const REFRESH_MS = 5000;

const THREE = [createStatus('UP-1'), createDownStatus('DOWN'), createStatus('UP-2')];

test('a refresh keeps typed text, focus and scroll position', async (t) => {
  const rows = Array.from({ length: 50 }, (_, index) => createStatus(`UP-${index}`));
  await testPage(t, rows, '/?q=U', async ({ server, page }) => {
    await page.evaluate('scrollTo(0, 100)');
    await page.evaluate('filter.focus({ preventScroll: true }); filter.value = "UP, and mo";');
    server.rows = rows.map((row) => ({ ...row, totals: { ...createLargeTotals(), users: 4321 } }));
    await page.clock.runFor(REFRESH_MS);
    await page.getByText('4,321').first().waitFor();
    const kept = '[document.activeElement.id, document.activeElement.value, scrollY]';
    assert.deepEqual(await page.evaluate(kept), ['filter', 'UP, and mo', 100]);
  });
});

test('focus stays on a service code when the order changes', async (t) => {
  await testPage(t, THREE, '/', async ({ server, page }) => {
    await page.getByRole('link', { name: 'UP-1' }).focus();
    server.rows = [createStatus('UP-1'), createStatus('DOWN'), createDownStatus('UP-2')];
    await page.clock.runFor(REFRESH_MS);
    await waitUntil(
      () => readServiceCodes(page),
      (codes) => codes.join() === 'UP-2,DOWN,UP-1',
    );
    assert.equal(await page.evaluate('document.activeElement.textContent'), 'UP-1');
  });
});

test('screen readers announce a change of condition, but not the passing of time', async (t) => {
  await testPage(t, THREE, '/', async ({ server, page }) => {
    const status = page.getByRole('status');
    assert.equal(await status.innerText(), '1 down, 2 up');
    const watch = `globalThis.changes = 0; new MutationObserver((all) => { changes += all.length; })
      .observe(document.getElementById('summary').parentElement, { subtree: true, childList: true, characterData: true });`;
    await page.evaluate(watch);
    server.nowMs += 60_000;
    await page.clock.runFor(REFRESH_MS);
    await page.getByText('65 s ago').first().waitFor();
    assert.equal(await page.evaluate('changes'), 0);
    server.rows = [createStatus('UP-1')];
    await page.clock.runFor(REFRESH_MS);
    await waitForValue(() => status.innerText(), '1 up');
  });
});

test('a hidden or paused page sends no requests', async (t) => {
  await testPage(t, THREE, '/', async ({ server, page }) => {
    const hide = (isHidden: boolean): string =>
      `Object.defineProperty(document, 'hidden', { value: ${isHidden}, configurable: true });
       document.dispatchEvent(new Event('visibilitychange'));`;
    await page.evaluate(hide(true));
    const before = server.requestedUrls.length;
    await page.clock.runFor(10 * REFRESH_MS);
    assert.equal(server.requestedUrls.length, before);
    await page.evaluate(hide(false));
    await waitForValue(() => server.requestedUrls.length, before + 1);
    await page.getByRole('button', { name: 'Pause refreshing' }).click();
    const paused = server.requestedUrls.length;
    await page.clock.runFor(10 * REFRESH_MS);
    assert.equal(server.requestedUrls.length, paused);
    await page.getByRole('button', { name: 'Pause refreshing', pressed: true }).click();
    await waitUntil(
      () => server.requestedUrls.length,
      (count) => count > paused,
    );
  });
});

const respondHtml = (status: number, text: string) => respond(status, text, 'text/html; charset=utf-8');

for (const [name, answer] of Object.entries({
  'the exporter fails': respondText(503, 'Broken.'),
  'a login answers instead': respondHtml(200, '<title>Log in</title><main id="main"><form></form></main>'),
  'an ingress has no such host': respondHtml(404, '<h1>404 page not found</h1>'),
  'the page of another version lacks an element': respondHtml(
    200,
    '<p id="summary"></p><div id="process-problems"></div><main id="main">New</main>',
  ),
})) {
  test(`an alert is shown while ${name}, and the page recovers`, async (t) => {
    const run = async ({ server, page }: PageContext): Promise<void> => {
      const alert = page.getByRole('alert');
      assert.equal(await alert.isVisible(), false);
      const title = await page.title();
      server.answer = answer;
      await page.clock.runFor(REFRESH_MS);
      await alert.waitFor({ state: 'visible' });
      assert.deepEqual(await readServiceCodes(page), ['DOWN', 'UP-1', 'UP-2']);
      assert.equal(await page.title(), title);
      server.answer = undefined;
      await page.clock.runFor(REFRESH_MS);
      await alert.waitFor({ state: 'hidden' });
    };
    await testPage(t, THREE, '/', run, {}, /503|404/);
  });
}

test('the page of a removed service code reports that it is not configured', async (t) => {
  const run = async ({ server, page }: PageContext): Promise<void> => {
    server.rows = [];
    await page.clock.runFor(REFRESH_MS);
    await page.getByText('No such service code is configured.').waitFor();
  };
  await testPage(t, THREE, '/service-codes/?service_code=UP-1', run, {}, /404/);
});

test('hostile names add no elements, and each links to its page', async (t) => {
  const rows = HOSTILE_NAMES.map((code) => createStatus(code, { history: createHistoryWithFailures() }));
  await testPage(t, rows, '/', async ({ server, page, base }) => {
    server.breakdown = createBreakdown((index) => HOSTILE_NAMES[index] ?? String(index));
    for (const path of ['/', ...(await readHrefs(page))]) {
      await page.goto(new URL(path, base).href);
      assert.match(await page.title(), /· xvs-exporter$/);
      assert.equal(await page.locator('img, h1 *:not(bdi), script:not(:last-child)').count(), 0);
      assert.equal(await page.locator('h1').count(), 1);
    }
    assert.equal((await readHrefs(page)).length, 0);
  });
});

async function readHrefs(page: Page): Promise<string[]> {
  const links = await page.locator('.list tbody th a').all();
  return await Promise.all(links.map(async (link) => (await link.getAttribute('href')) ?? ''));
}

test('behind a proxy that strips a path, every link leads to a page', async (t) => {
  const run = async ({ page, base }: PageContext): Promise<void> => {
    const root = `${base}/below/`;
    const paths = [
      '',
      'service-codes/?service_code=UP-1',
      'service-codes/?service_code=NONE',
      'nope',
      'a/nope',
    ];
    for (const path of paths) {
      await page.goto(root + path);
      const links = z
        .array(z.string())
        .parse(await page.evaluate('[...document.links].map(({ href }) => href)'));
      const own = links.filter((href) => href.startsWith(base));
      assert.ok(own.length >= 4);
      for (const href of own) {
        assert.ok(href.startsWith(root), `${path} ${href}`);
        assert.equal((await fetch(href)).status, 200, `${path} ${href}`);
      }
    }
    await page.goto(root);
    await page.getByRole('searchbox').fill('DOWN');
    await page.getByRole('button', { name: 'Show' }).click();
    await page.waitForURL(`${root}?q=DOWN`);
  };
  await testPage(t, THREE, '/', run, {}, /404/);
});

test('without scripts, a link and a form paginate and filter, and the page reloads', async (t) => {
  const rows = [
    createDownStatus('DOWN'),
    ...Array.from({ length: 60 }, (_, index) => createStatus(`UP-${index}`)),
  ];
  const options = { javaScriptEnabled: false };
  const run = async ({ page }: PageContext): Promise<void> => {
    assert.equal(await page.locator('meta[http-equiv="refresh"]').count(), 1);
    assert.equal(await page.getByRole('button', { name: 'Pause refreshing' }).isVisible(), false);
    await page.getByRole('link', { name: 'Next' }).click();
    await page.getByRole('table', { name: 'Service codes: 51 to 61 of 61.' }).waitFor();
    assert.equal((await readServiceCodes(page)).length, 11);
    await page.getByRole('searchbox').fill('-59');
    await page.getByRole('button', { name: 'Show' }).click();
    await page.getByRole('table', { name: 'Service codes: 1 of 61 match.' }).waitFor();
    assert.deepEqual(await readServiceCodes(page), ['UP-59']);
  };
  await testPage(t, rows, '/', run, options);
});

const PAGE_OPTIONS: readonly (readonly [string, PageOptions])[] = [
  ['light', { colorScheme: 'light' }],
  ['dark', { colorScheme: 'dark' }],
  ['light, in a narrow window', { colorScheme: 'light', width: 1000 }],
  ['light, at 200 %', { colorScheme: 'light', width: 640 }],
  ['light, on a phone', { colorScheme: 'light', width: 390 }],
  ['dark, on a phone', { colorScheme: 'dark', width: 320 }],
];

const VARIED_ROWS: readonly ServiceCodeStatus[] = [
  ...HOSTILE_NAMES.map((code) => createStatus(code, { history: createHistoryWithFailures() })),
  createDownStatus('DOWN', {
    lastSuccessMs: NOW_MS - 700_000,
    expectedTaskCount: 2,
    expectedTasks: [
      { name: 'main', condition: 'up', outputs: 3, sinceMs: NOW_MS - 900_000 },
      { name: 'W'.repeat(100), condition: 'missing', outputs: undefined, sinceMs: NOW_MS - 900_000 },
    ],
    totals: { ...createLargeTotals(), ingress: undefined, egress: undefined },
  }),
  createStatus('STALE', { condition: 'stale', totals: undefined }),
  createStatus('STALLED', {
    totals: { ...createLargeTotals(), stalledTasks: 1234 },
    history: createHistoryWithFailures(),
  }),
  createStatus('IDLE', { condition: 'idle' }),
  createStatus('STOPPED', {
    losses: createLosses({
      deliveries: ['W'.repeat(128), ...HOSTILE_NAMES].map((vsId) => {
        return { vsId, format: 'flv', before: 5, since: minutesAgo(10) };
      }),
    }),
  }),
  createStatus('MARKED', {
    expectedTaskCount: 9,
    expectedTasks: [createSlowTask('A stream with a long name in words'), createSlowTask('W'.repeat(100))],
    totals: createTotals({
      tasks: 9,
      tasksWithoutInput: 2,
      byteCountsWaiting: 3,
      rejected: { count: 106, first: { record: 'task', reason: 'duplicate_id', index: 31_415 } },
      tasksWithoutAccount: 12,
    }),
  }),
  createStatus('SLOW', { expectedTaskCount: 1, expectedTasks: [createSlowTask('W'.repeat(100))] }),
  createWaitingStatus('WAITING'),
];

function createSlowTask(name: string): ExpectedTask {
  return { name, condition: 'up', outputs: 3, sinceMs: NOW_MS - 900_000, slowSinceMs: NOW_MS - 600_000 };
}

function createLargeTotals() {
  return createTotals({
    users: 1_234_567,
    tasks: 123_456,
    connections: 87_654_321,
    ingress: 1e9,
    egress: 125e9,
  });
}

for (const [name, options] of PAGE_OPTIONS) {
  test(`${name}, every page has the colours of the system, is accessible and no wider than the window`, async (t) => {
    const run = async ({ page, base }: PageContext): Promise<void> => {
      for (const path of ['/', '/?q=unknown', '/nope', ...CODE_PATHS]) {
        await page.goto(base + path);
        const background = await page.evaluate('getComputedStyle(document.body).backgroundColor');
        const brightness = Number(/\d+/.exec(String(background))?.[0]);
        assert.equal(brightness < 128, options.colorScheme === 'dark', path);
        assert.deepEqual(await findViolations(page), [], path);
        const widths = await page.evaluate('[document.documentElement.scrollWidth <= innerWidth]');
        assert.deepEqual(widths, [true], path);
      }
    };
    await testPage(t, VARIED_ROWS, '/', run, options, /404/);
  });
}

const CODE_PATHS = ['DOWN', 'MARKED', 'SLOW', 'STALLED', 'STOPPED', 'W'.repeat(128)].map(
  (code) => `/service-codes/?service_code=${code}`,
);

/** The violations that axe finds, by rule and element. */
async function findViolations(page: Page): Promise<unknown> {
  const { default: axe } = await import('axe-core');
  await page.evaluate(axe.source);
  return await page.evaluate(`axe.run().then(({ violations }) => violations.map(({ id, nodes }) =>
    [id, ...nodes.slice(0, 3).map(({ html, failureSummary }) => [html, failureSummary])]))`);
}

test('the keyboard reaches the page of a service code from the filter, with a visible focus', async (t) => {
  await testPage(t, [createStatus('ONLY')], '/', async ({ page }) => {
    await page.locator('#filter').focus();
    const outlines: string[] = [];
    for (let presses = 0; presses < 30; presses += 1) {
      await page.keyboard.press('Tab');
      outlines.push(String(await page.evaluate('getComputedStyle(document.activeElement).outlineStyle')));
      if ((await page.evaluate('document.activeElement.id')) === 'code-ONLY') break;
    }
    assert.deepEqual([...new Set(outlines)], ['solid']);
    await page.keyboard.press('Enter');
    await page.waitForURL('**/service-codes/?service_code=ONLY');
  });
});
