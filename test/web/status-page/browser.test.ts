import assert from 'node:assert/strict';
import { test, type TestContext } from 'node:test';
import type { Page } from 'playwright-core';
import type { ServiceCodeStatus } from '../../../src/web/view.ts';
import { Chromium, hasChromium, type Look } from '../../support/chromium.ts';
import { until } from '../../support/until.ts';
import { HOSTILE_NAMES } from './hostile-names.ts';
import { breakdownWith, eventfulHistory, Stage } from './stage.ts';
import { downStatusOf, statusOf, waitingStatusOf } from './status-of.ts';

/** As often as the pages bring themselves up to date. */
const REFRESH_MS = 5000;

interface Scene {
  readonly stage: Stage;
  readonly page: Page;
  readonly base: string;
}

/** Opens a page in Chromium, in which nothing may write to the console while a test goes on. */
async function open(
  t: TestContext,
  rows: readonly ServiceCodeStatus[],
  path: string,
  scene: (scene: Scene) => Promise<void>,
  look: Look = {},
): Promise<void> {
  if (!hasChromium(t)) return;
  await using stage = new Stage(
    rows,
    breakdownWith((index) => `name-${index}`),
  );
  const base = await stage.open();
  await using browser = await Chromium.running();
  const page = await browser.newPage(look);
  if (look.javaScriptEnabled !== false) await page.clock.install();
  await page.goto(base + path);
  await scene({ stage, page, base });
  assert.deepEqual(browser.complaints, []);
}

const codesOn = (page: Page): Promise<string[]> => page.locator('.list tbody th').allInnerTexts();

const THREE = [statusOf('UP-1'), downStatusOf('DOWN'), statusOf('UP-2')];

test('what is red stands first, in words, with what to try', async (t) => {
  await open(t, THREE, '/', async ({ page }) => {
    assert.deepEqual(await codesOn(page), ['DOWN', 'UP-1', 'UP-2']);
    assert.equal(await page.title(), '1 down, 2 up · xvs-exporter');
    const trouble = await page.getByRole('row').filter({ hasText: 'Try:' }).allInnerTexts();
    assert.equal(trouble.length, 1);
    assert.match(trouble[0] ?? '', /could not be connected to\. Try: Check host and port/);
    assert.equal(await page.getByTitle('125,000 bytes per second').first().innerText(), '1.00 Mbit/s');
  });
});

test('a page brings itself up to date: text that is typed, focus and scroll stay', async (t) => {
  const rows = Array.from({ length: 50 }, (_, index) => statusOf(`UP-${index}`));
  await open(t, rows, '/?q=U', async ({ stage, page }) => {
    await page.evaluate('globalThis.row = document.querySelector(".list tbody tr")');
    await page.evaluate('scrollTo(0, 100)');
    // Set, not typed: a filter that is typed is applied.
    await page.evaluate('filter.focus({ preventScroll: true }); filter.value = "UP, and mo";');
    stage.rows = rows.map((row) => ({ ...row, figures: { ...eventfulFigures(), users: 4321 } }));
    await page.clock.runFor(REFRESH_MS);
    await page.getByText('4,321').first().waitFor();
    // The very same row: nothing was drawn anew that could flicker.
    const kept = '[row.isConnected, document.activeElement.id, document.activeElement.value, scrollY]';
    assert.deepEqual(await page.evaluate(kept), [true, 'filter', 'UP, and mo', 100]);
  });
});

test('focus stays on a service code when the order changes', async (t) => {
  await open(t, THREE, '/', async ({ stage, page }) => {
    await page.getByRole('link', { name: 'UP-1' }).focus();
    stage.rows = [statusOf('UP-1'), statusOf('DOWN'), downStatusOf('UP-2')];
    await page.clock.runFor(REFRESH_MS);
    await until(
      () => codesOn(page),
      (codes) => codes.join() === 'UP-2,DOWN,UP-1',
    );
    assert.equal(await page.evaluate('document.activeElement.textContent'), 'UP-1');
  });
});

test('a change of state is told to who listens, and the passing of time is not', async (t) => {
  await open(t, THREE, '/', async ({ stage, page }) => {
    const status = page.getByRole('status');
    assert.equal(await status.innerText(), '1 down, 2 up');
    const watch = `globalThis.changes = 0; new MutationObserver((all) => { changes += all.length; })
      .observe(document.getElementById('summary').parentElement, { subtree: true, childList: true, characterData: true });`;
    await page.evaluate(watch);
    stage.nowMs += 60_000;
    await page.clock.runFor(REFRESH_MS);
    await page.getByText('65 s ago').first().waitFor();
    assert.equal(await page.evaluate('changes'), 0);
    stage.rows = [statusOf('UP-1')];
    await page.clock.runFor(REFRESH_MS);
    await until(
      () => status.innerText(),
      (text) => text === '1 up',
    );
  });
});

test('a filter is applied as it is typed, and stays in the address', async (t) => {
  await open(t, THREE, '/?sort=code', async ({ page, base }) => {
    await page.locator('#filter').pressSequentially('up-');
    await page.clock.runFor(REFRESH_MS);
    await until(
      () => codesOn(page),
      (codes) => codes.join() === 'UP-1,UP-2',
    );
    assert.equal(page.url(), `${base}/?q=up-&sort=code`);
  });
});

test('a page at which nobody looks, or that is paused, asks for nothing', async (t) => {
  await open(t, THREE, '/', async ({ stage, page }) => {
    const hide = (isHidden: boolean): string =>
      `Object.defineProperty(document, 'hidden', { value: ${isHidden}, configurable: true });
       document.dispatchEvent(new Event('visibilitychange'));`;
    await page.evaluate(hide(true));
    const before = stage.requested.length;
    await page.clock.runFor(10 * REFRESH_MS);
    assert.equal(stage.requested.length, before);
    await page.evaluate(hide(false));
    await until(
      () => stage.requested.length,
      (count) => count === before + 1,
    );
    await page.getByRole('button', { name: 'Pause refreshing' }).click();
    const paused = stage.requested.length;
    await page.clock.runFor(10 * REFRESH_MS);
    assert.equal(stage.requested.length, paused);
    await page.getByRole('button', { name: 'Pause refreshing', pressed: true }).click();
    await until(
      () => stage.requested.length,
      (count) => count > paused,
    );
  });
});

test('an exporter that does not answer is said not to, until it does', async (t) => {
  if (!hasChromium(t)) return;
  await using stage = new Stage(THREE);
  const base = await stage.open();
  await using browser = await Chromium.running();
  const page = await browser.newPage();
  await page.clock.install();
  await page.goto(base);
  const lost = page.getByRole('alert');
  assert.equal(await lost.isVisible(), false);
  stage.isBroken = true;
  await page.clock.runFor(REFRESH_MS);
  await lost.waitFor({ state: 'visible' });
  assert.deepEqual(await codesOn(page), ['DOWN', 'UP-1', 'UP-2']);
  stage.isBroken = false;
  await page.clock.runFor(REFRESH_MS);
  await lost.waitFor({ state: 'hidden' });
});

test('no name gets out of its place, and each leads to its page', async (t) => {
  const rows = HOSTILE_NAMES.map((code) => statusOf(code, { history: eventfulHistory() }));
  await open(t, rows, '/', async ({ stage, page, base }) => {
    stage.breakdown = breakdownWith((index) => HOSTILE_NAMES[index] ?? String(index));
    for (const path of ['/', ...(await hrefs(page))]) {
      await page.goto(base + path);
      assert.match(await page.title(), /· xvs-exporter$/);
      assert.equal(await page.locator('img, h1 *:not(bdi), script:not(:last-child)').count(), 0);
      assert.equal(await page.locator('h1').count(), 1);
    }
    assert.equal((await hrefs(page)).length, 0);
  });
});

test('on the page of a service code its name is told, with marks in the place of what turns the text', async (t) => {
  const code = '\u202Edlrow olleh';
  await open(t, [statusOf(code)], `/service-codes/${encodeURIComponent(code)}`, async ({ page }) => {
    assert.equal(await page.locator('h1').innerText(), '[U+202E]dlrow olleh');
  });
});

async function hrefs(page: Page): Promise<string[]> {
  const links = await page.locator('.list tbody th a').all();
  return await Promise.all(links.map(async (link) => (await link.getAttribute('href')) ?? ''));
}

test('without scripts it filters, orders and turns pages by links and a form, and loads itself anew', async (t) => {
  const rows = [downStatusOf('DOWN'), ...Array.from({ length: 60 }, (_, index) => statusOf(`UP-${index}`))];
  const look = { javaScriptEnabled: false };
  const scene = async ({ page }: Scene): Promise<void> => {
    assert.equal(await page.locator('meta[http-equiv="refresh"]').count(), 1);
    assert.equal(await page.getByRole('button', { name: 'Pause refreshing' }).isVisible(), false);
    await page.getByRole('link', { name: 'Next' }).click();
    assert.equal((await codesOn(page)).length, 11);
    await page.getByRole('link', { name: 'Users' }).click();
    const sorted = page.locator('th[aria-sort]');
    assert.deepEqual(
      [await sorted.innerText(), await sorted.getAttribute('aria-sort')],
      ['Users ▾', 'descending'],
    );
    assert.equal((await codesOn(page))[0], 'UP-0');
    await page.getByRole('searchbox').fill('-59');
    await page.getByRole('button', { name: 'Show' }).click();
    assert.deepEqual(await codesOn(page), ['UP-59']);
  };
  await open(t, rows, '/', scene, look);
});

const LOOKS: readonly (readonly [string, Look])[] = [
  ['light', { colorScheme: 'light' }],
  ['dark', { colorScheme: 'dark' }],
  ['light, in a narrow window', { colorScheme: 'light', width: 1000 }],
  ['light, on a telephone', { colorScheme: 'light', width: 360 }],
  ['dark, on a telephone', { colorScheme: 'dark', width: 360 }],
];

const EVENTFUL: readonly ServiceCodeStatus[] = [
  ...HOSTILE_NAMES.map((code) => statusOf(code, { history: eventfulHistory() })),
  downStatusOf('DOWN', { figures: { ...eventfulFigures(), ingress: undefined, egress: undefined } }),
  statusOf('STALE', { condition: 'stale', figures: undefined }),
  statusOf('STALLED', { figures: { ...eventfulFigures(), stalledTasks: 1234 }, history: eventfulHistory() }),
  waitingStatusOf('WAITING'),
];

function eventfulFigures() {
  return {
    users: 1_234_567,
    tasks: 123_456,
    stalledTasks: 0,
    connections: 87_654_321,
    ingress: 1e9,
    egress: 125e9,
  };
}

for (const [name, look] of LOOKS) {
  test(`${name}, every page is accessible and no wider than the window`, async (t) => {
    const scene = async ({ page, base }: Scene): Promise<void> => {
      for (const path of ['/', '/?q=nobody&sort=users', ...codePaths()]) {
        await page.goto(base + path);
        assert.deepEqual(await violationsOf(page), [], path);
        const widths = await page.evaluate('[document.documentElement.scrollWidth <= innerWidth]');
        assert.deepEqual(widths, [true], path);
      }
    };
    await open(t, EVENTFUL, '/', scene, look);
  });
}

function codePaths(): string[] {
  return ['DOWN', 'STALLED', 'W'.repeat(128)].map((code) => `/service-codes/${code}`);
}

/** What axe finds wrong, by rule and place. */
async function violationsOf(page: Page): Promise<unknown> {
  const { default: axe } = await import('axe-core');
  await page.evaluate(axe.source);
  return await page.evaluate(`axe.run().then(({ violations }) => violations.map(({ id, nodes }) =>
    [id, ...nodes.slice(0, 3).map(({ html, failureSummary }) => [html, failureSummary])]))`);
}

test('by day it is light and by night dark', async (t) => {
  const brightness = async (colorScheme: 'light' | 'dark'): Promise<number> => {
    let found = Number.NaN;
    const scene = async ({ page }: Scene): Promise<void> => {
      const color = String(await page.evaluate('getComputedStyle(document.body).backgroundColor'));
      found = Number(/\d+/.exec(color)?.[0]);
    };
    await open(t, THREE, '/', scene, { colorScheme });
    return found;
  };
  if (!hasChromium(t)) return;
  assert.ok((await brightness('light')) > 200);
  assert.ok((await brightness('dark')) < 50);
});

test('from the keyboard alone one gets from the filter to the page of a service code, and sees where one is', async (t) => {
  await open(t, [statusOf('ONLY')], '/', async ({ page }) => {
    await page.locator('#filter').focus();
    const outlines: string[] = [];
    for (let presses = 0; presses < 30; presses += 1) {
      await page.keyboard.press('Tab');
      outlines.push(String(await page.evaluate('getComputedStyle(document.activeElement).outlineStyle')));
      if ((await page.evaluate('document.activeElement.id')) === 'code-ONLY') break;
    }
    assert.deepEqual([...new Set(outlines)], ['solid']);
    await page.keyboard.press('Enter');
    await page.waitForURL('**/service-codes/ONLY');
  });
});
