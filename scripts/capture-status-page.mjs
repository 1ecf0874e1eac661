// Captures the pictures of the status page in docs/pictures/status-page: runs a simulated service with faults and an
// exporter for a minute, and opens the pages in Chromium (/usr/bin/chromium).
//
//   npm run build && node scripts/capture-status-page.mjs
import { spawn } from 'node:child_process';
import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { chromium } from 'playwright-core';

const root = fileURLToPath(new URL('..', import.meta.url));
const outputFolder = join(root, 'docs/pictures/status-page');
const SECRET = 'demo-secret';
const CODES = [
  'ARENA',
  'CAMPUS',
  'CITYHALL',
  'CONCERT',
  'MUSEUM',
  'NEWSROOM',
  'STADIUM',
  'TESTING',
  'THEATRE',
];
const PICTURES = [
  { name: 'list-light', path: '/', colorScheme: 'light', width: 1280 },
  { name: 'list-dark', path: '/', colorScheme: 'dark', width: 1280 },
  { name: 'code-light', path: '/service-codes/CONCERT', colorScheme: 'light', width: 1280 },
  { name: 'code-dark', path: '/service-codes/STADIUM', colorScheme: 'dark', width: 1280 },
  { name: 'list-phone', path: '/', colorScheme: 'light', width: 360 },
  { name: 'code-phone', path: '/service-codes/CONCERT', colorScheme: 'dark', width: 360 },
];

const children = [];

/** Starts the built program; resolves with the first group of the pattern in its output. */
async function start(args, pattern, env = {}) {
  const child = spawn(process.execPath, [join(root, 'dist/main.js'), ...args], {
    env: { PATH: process.env.PATH, ...env },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  children.push(child);
  return await new Promise((resolve, reject) => {
    let text = '';
    const onData = (chunk) => {
      text += chunk;
      const match = pattern.exec(text);
      if (match !== null) resolve(match[1]);
    };
    child.stdout.on('data', onData);
    child.stderr.on('data', onData);
    child.once('exit', () => reject(new Error(`Expected ${pattern}, found ${text}`)));
  });
}

async function run() {
  const serviceCodes = CODES.map((code) => `--service-code=${code}:${SECRET}`);
  const size = ['--users=800', '--tasks=60', '--seed=7'];
  const service = await start(
    ['simulate', '--listen-address=127.0.0.1:0', '--control', ...size, ...serviceCodes],
    / on (http:\S+)/,
  );
  const intervals = ['--poll.interval=1s', '--poll.stale-after=2m', '--poll.stall-after=15s'];
  const port = await start(intervals, /"port":(\d+),"msg":"Listening"/, {
    XVS_UPSTREAM_BASE_URL: service,
    XVS_SERVICE_CODES: CODES.join(','),
    XVS_SECRET: SECRET,
    XVS_WEB_LISTEN_ADDRESS: '127.0.0.1:0',
  });
  const injectFault = (fault) => fetch(`${service}/-/faults`, { method: 'PUT', body: JSON.stringify(fault) });
  await delay(25_000);
  await injectFault({ fault: 'refuse', serviceCode: 'MUSEUM' });
  await delay(6000);
  await fetch(`${service}/-/faults?service_code=MUSEUM`, { method: 'DELETE' });
  await injectFault({ fault: 'freeze_ingest', serviceCode: 'CONCERT' });
  await delay(15_000);
  await injectFault({ fault: 'ret', value: 1005, serviceCode: 'STADIUM' });
  await delay(16_000);
  await capture(`http://127.0.0.1:${port}`);
}

async function capture(baseUrl) {
  mkdirSync(outputFolder, { recursive: true });
  const browser = await chromium.launch({
    executablePath: '/usr/bin/chromium',
    args: ['--no-sandbox', '--disable-gpu', '--disable-quic', '--disable-background-networking'],
  });
  for (const { name, path, colorScheme, width } of PICTURES) {
    const page = await browser.newPage({ colorScheme, viewport: { width, height: 760 } });
    await page.goto(baseUrl + path);
    await page.screenshot({ path: join(outputFolder, `${name}.png`), fullPage: width > 400 });
    await page.close();
  }
  await browser.close();
}

try {
  await run();
} finally {
  for (const child of children) child.kill();
}
