// Makes the pictures of the status page in docs/pictures/status-page: a simulated service with troubles, an exporter
// that has polled it for a minute, and Debian's Chromium.
//
//   npm run build && node scripts/picture-status-page.mjs
import { spawn } from 'node:child_process';
import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { chromium } from 'playwright-core';

const root = fileURLToPath(new URL('..', import.meta.url));
const target = join(root, 'docs/pictures/status-page');
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
  { name: 'list-telephone', path: '/', colorScheme: 'light', width: 360 },
  { name: 'code-telephone', path: '/service-codes/CONCERT', colorScheme: 'dark', width: 360 },
];

const programs = [];

/** Starts the built program; resolves with the first match of what it prints. */
async function start(args, pattern, env = {}) {
  const child = spawn(process.execPath, [join(root, 'dist/main.js'), ...args], {
    env: { PATH: process.env.PATH, ...env },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  programs.push(child);
  return await new Promise((resolve, reject) => {
    let text = '';
    const read = (chunk) => {
      text += chunk;
      const match = pattern.exec(text);
      if (match !== null) resolve(match[1]);
    };
    child.stdout.on('data', read);
    child.stderr.on('data', read);
    child.once('exit', () => reject(new Error(`Expected ${pattern}, found ${text}`)));
  });
}

async function run() {
  const codes = CODES.map((code) => `--service-code=${code}:${SECRET}`);
  const size = ['--users=800', '--tasks=60', '--seed=7'];
  const service = await start(
    ['simulate', '--listen-address=127.0.0.1:0', '--control', ...size, ...codes],
    / on (http:\S+)/,
  );
  const times = ['--poll.interval=1s', '--poll.stale-after=2m', '--poll.stall-after=15s'];
  const port = await start(times, /"port":(\d+),"msg":"Listening"/, {
    XVS_UPSTREAM_BASE_URL: service,
    XVS_SERVICE_CODES: CODES.join(','),
    XVS_SECRET: SECRET,
    XVS_WEB_LISTEN_ADDRESS: '127.0.0.1:0',
  });
  const put = (fault) => fetch(`${service}/-/faults`, { method: 'PUT', body: JSON.stringify(fault) });
  await delay(25_000);
  await put({ fault: 'refuse', serviceCode: 'MUSEUM' });
  await delay(6000);
  await fetch(`${service}/-/faults?service_code=MUSEUM`, { method: 'DELETE' });
  await put({ fault: 'freeze_ingest', serviceCode: 'CONCERT' });
  await delay(15_000);
  await put({ fault: 'ret', value: 1005, serviceCode: 'STADIUM' });
  await delay(16_000);
  await draw(`http://127.0.0.1:${port}`);
}

async function draw(base) {
  mkdirSync(target, { recursive: true });
  const browser = await chromium.launch({
    executablePath: '/usr/bin/chromium',
    args: ['--no-sandbox', '--disable-gpu', '--disable-quic', '--disable-background-networking'],
  });
  for (const { name, path, colorScheme, width } of PICTURES) {
    const page = await browser.newPage({ colorScheme, viewport: { width, height: 760 } });
    await page.goto(base + path);
    await page.screenshot({ path: join(target, `${name}.png`), fullPage: width > 400 });
    await page.close();
  }
  await browser.close();
}

try {
  await run();
} finally {
  for (const program of programs) program.kill();
}
