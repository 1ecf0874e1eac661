import assert from 'node:assert/strict';
import type { TestContext } from 'node:test';
import type { Locator, Page } from 'playwright-core';
import type { ServiceCodeStatus } from '../../../src/web/exporter-facade.ts';
import { Chromium, hasChromium, type PageOptions } from '../../support/chromium.ts';
import { createBreakdown } from '../../unit/web/status-page/status-fixtures.ts';
import { PageServer } from './page-server.ts';

export interface PageContext {
  readonly server: PageServer;
  readonly page: Page;
  readonly base: string;
}

/** Runs a test on a page in Chromium, and checks that the console stays empty. */
export async function testPage(
  t: TestContext,
  rows: readonly ServiceCodeStatus[],
  path: string,
  run: (context: PageContext) => Promise<void>,
  options: PageOptions = {},
  expectedMessages = /^$/,
): Promise<void> {
  if (!hasChromium(t)) return;
  await using server = new PageServer(
    rows,
    createBreakdown((index) => `name-${index}`),
  );
  const base = await server.open();
  await using browser = await Chromium.launch();
  const page = await browser.newPage(options);
  if (options.javaScriptEnabled !== false) await page.clock.install();
  await page.goto(base + path);
  await run({ server, page, base });
  assert.deepEqual(
    browser.consoleMessages.filter((message) => !expectedMessages.test(message)),
    [],
  );
}

/** The service codes of the list, in its order. */
export const readServiceCodes = (page: Page): Promise<string[]> =>
  page.getByRole('rowheader').getByRole('link').allInnerTexts();

/** The text of an element in one line. */
export async function readText(element: Locator): Promise<string> {
  return (await element.innerText()).replaceAll(/\s+/g, ' ').trim();
}

/**
 * The rows of a table by its caption, each with the texts of its cells; without the headings of the columns.
 */
export async function readTable(page: Page, caption: string): Promise<string[][]> {
  const rows = await page.getByRole('table', { name: caption }).getByRole('row').all();
  return await Promise.all(
    rows.slice(1).map(async (row) => {
      const cells = await row.getByRole('rowheader').or(row.getByRole('cell')).all();
      return await Promise.all(cells.map(readText));
    }),
  );
}
