import type { TestContext } from 'node:test';
import { chromium, type Browser, type Page } from 'playwright-core';
import { isInstalled } from './installed.ts';

/** Where Debian has it. */
const PROGRAM = '/usr/bin/chromium';

const FLAGS = [
  '--no-sandbox',
  '--disable-gpu',
  '--disable-quic',
  '--no-first-run',
  '--disable-background-networking',
  '--disable-component-update',
  '--disable-sync',
];

/** How a page is looked at. */
export interface Look {
  readonly colorScheme?: 'light' | 'dark';
  readonly javaScriptEnabled?: boolean;
  readonly width?: number;
}

/** Debian's Chromium, without a window. Disposing of it ends it, and removes what it wrote. */
export class Chromium implements AsyncDisposable {
  readonly #browser: Browser;
  /** What pages wrote to their consoles, and errors that nobody caught. */
  readonly complaints: string[] = [];

  private constructor(browser: Browser) {
    this.#browser = browser;
  }

  static async running(): Promise<Chromium> {
    return new Chromium(await chromium.launch({ executablePath: PROGRAM, args: FLAGS }));
  }

  /** An empty page that shares nothing with others. */
  async newPage({ colorScheme = 'light', javaScriptEnabled = true, width = 1280 }: Look = {}): Promise<Page> {
    const context = await this.#browser.newContext({
      colorScheme,
      javaScriptEnabled,
      viewport: { width, height: 800 },
      locale: 'en-GB',
      timezoneId: 'UTC',
    });
    const page = await context.newPage();
    page.setDefaultTimeout(10_000);
    page.on('console', (message) => this.complaints.push(`${message.type()}: ${message.text()}`));
    page.on('pageerror', (error) => this.complaints.push(error.message));
    return page;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#browser.close();
  }
}

/** Whether Chromium is on this machine; see {@link isInstalled}. */
export function hasChromium(t: TestContext): boolean {
  return isInstalled(t, PROGRAM);
}
