import { after, type TestContext } from 'node:test';
import { chromium, type Browser, type BrowserContext, type Page } from 'playwright-core';
import { isInstalled } from './installed-programs.ts';
import { WAIT_LIMIT_MS } from './wait-until.ts';

/** The path of Debian's Chromium. */
const EXECUTABLE_PATH = '/usr/bin/chromium';

const FLAGS = [
  '--no-sandbox',
  '--disable-gpu',
  '--disable-quic',
  '--no-first-run',
  '--disable-background-networking',
  '--disable-component-update',
  '--disable-sync',
];

export interface PageOptions {
  readonly colorScheme?: 'light' | 'dark';
  readonly javaScriptEnabled?: boolean;
  readonly width?: number;
}

/** The browser that all tests of a process share, because starting one takes about a second. */
let sharedBrowser: Promise<Browser> | undefined;

after(async () => {
  await (await sharedBrowser)?.close();
});

/** A separate session in the shared Chromium. Disposal closes its pages. */
export class Chromium implements AsyncDisposable {
  readonly #browser: Browser;
  readonly #contexts: BrowserContext[] = [];
  /** Console output and uncaught errors of the pages. */
  readonly consoleMessages: string[] = [];

  private constructor(browser: Browser) {
    this.#browser = browser;
  }

  static async launch(): Promise<Chromium> {
    sharedBrowser ??= chromium.launch({
      executablePath: EXECUTABLE_PATH,
      args: FLAGS,
      timeout: WAIT_LIMIT_MS,
    });
    return new Chromium(await sharedBrowser);
  }

  /** Opens an empty page that shares no state with other pages. */
  async newPage({
    colorScheme = 'light',
    javaScriptEnabled = true,
    width = 1280,
  }: PageOptions = {}): Promise<Page> {
    const context = await this.#browser.newContext({
      colorScheme,
      javaScriptEnabled,
      viewport: { width, height: 800 },
      locale: 'en-GB',
      timezoneId: 'UTC',
    });
    this.#contexts.push(context);
    const page = await context.newPage();
    page.setDefaultTimeout(WAIT_LIMIT_MS);
    page.on('console', (message) => this.consoleMessages.push(`${message.type()}: ${message.text()}`));
    page.on('pageerror', (error) => this.consoleMessages.push(error.message));
    return page;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    for (const context of this.#contexts) await context.close();
  }
}

/** Tells whether Chromium is on this machine; see {@link isInstalled}. */
export function hasChromium(t: TestContext): boolean {
  return isInstalled(t, EXECUTABLE_PATH);
}
