// Captures pictures of the status page: runs a simulated service with faults and an exporter for a minute or two, and
// opens the pages in Chromium (/usr/bin/chromium).
//
//   npm run build && node scripts/capture-status-page.mjs              the pictures in docs/pictures/status-page
//   npm run build && node scripts/capture-status-page.mjs 1 FOLDER     every page, light and dark, 360 and 1,440 pixels
//   npm run build && node scripts/capture-status-page.mjs 1000 FOLDER  wide, with that number of service codes
import { spawn } from 'node:child_process';
import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { chromium } from 'playwright-core';

const root = fileURLToPath(new URL('..', import.meta.url));
const SECRET = 'demo-secret';
const NAMES = [
  'CONCERT',
  'STADIUM',
  'MUSEUM',
  'ARENA',
  'CAMPUS',
  'CITYHALL',
  'NEWSROOM',
  'TESTING',
  'THEATRE',
];
const DOCUMENTATION_PICTURES = [
  { name: 'list-light', path: '/', colorScheme: 'light', width: 1440, height: 720 },
  { name: 'list-dark', path: '/', colorScheme: 'dark', width: 1440, height: 720 },
  { name: 'code-light', path: '/service-codes/CONCERT', colorScheme: 'light', width: 1280, height: 1040 },
  { name: 'code-dark', path: '/service-codes/STADIUM', colorScheme: 'dark', width: 1280, height: 1040 },
  { name: 'list-phone', path: '/', colorScheme: 'light', width: 360, height: 760 },
  { name: 'code-phone', path: '/service-codes/CONCERT', colorScheme: 'dark', width: 360, height: 760 },
];
const PAGES = [
  ['list', '/'],
  ['code', '/service-codes/CONCERT'],
  ['down', '/service-codes/STADIUM'],
  ['404', '/nowhere'],
];

const [countText, folder] = process.argv.slice(2);
const plan =
  countText === undefined
    ? {
        outputFolder: join(root, 'docs/pictures/status-page'),
        pictures: DOCUMENTATION_PICTURES,
        count: NAMES.length,
      }
    : { outputFolder: folder, pictures: listReviewPictures(), count: Number(countText) };
/** With many codes, small listings and longer intervals keep the machine responsive. */
const isLarge = plan.count > NAMES.length;
const codes = Array.from({ length: plan.count }, (_, index) => NAMES[index] ?? `CHANNEL-${index}`);
const children = [];

function listReviewPictures() {
  return PAGES.flatMap(([page, path]) =>
    ['light', 'dark'].flatMap((colorScheme) =>
      [360, 1440].map((width) => ({ name: `${page}-${colorScheme}-${width}`, path, colorScheme, width })),
    ),
  );
}

/** Starts the built program; resolves with the first group of the pattern in its output. */
async function start(args, pattern, environment = {}) {
  const child = spawn(process.execPath, [join(root, 'dist/main.js'), ...args], {
    env: { PATH: process.env.PATH, ...environment },
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

function createEnvironment(baseUrl) {
  return {
    XVS_UPSTREAM_BASE_URL: baseUrl,
    XVS_SERVICE_CODES: codes.join(','),
    XVS_SECRET: SECRET,
    XVS_POLL_INTERVAL: isLarge ? '10s' : '1s',
    XVS_POLL_STALE_AFTER: '2m',
    XVS_POLL_STALL_AFTER: '15s',
    XVS_WEB_LISTEN_ADDRESS: '127.0.0.1:0',
    XVS_WEB_GRAFANA_URL: 'https://grafana.example.com',
  };
}

async function run() {
  const serviceCodes = codes.map((code) => `--service-code=${code}:${SECRET}`);
  const size = isLarge ? ['--users=40', '--tasks=8'] : ['--users=800', '--tasks=60'];
  const service = await start(
    ['simulate', '--listen-address=127.0.0.1:0', '--control', '--seed=7', ...size, ...serviceCodes],
    / on (http:\S+)/,
  );
  const port = await start([], /"port":(\d+),"msg":"Listening"/, createEnvironment(service));
  const injectFault = (fault) => fetch(`${service}/-/faults`, { method: 'PUT', body: JSON.stringify(fault) });
  const factor = isLarge ? 2 : 1;
  await delay(25_000 * factor);
  await injectFault({ fault: 'refuse', serviceCode: 'MUSEUM' });
  await delay(6000 * factor);
  await fetch(`${service}/-/faults?service_code=MUSEUM`, { method: 'DELETE' });
  await injectFault({ fault: 'freeze_ingest', serviceCode: 'CONCERT' });
  await delay(15_000 * factor);
  if (plan.count > 1) await injectFault({ fault: 'ret', value: 1005, serviceCode: 'STADIUM' });
  await delay(16_000 * factor);
  await capture(`http://127.0.0.1:${port}`);
}

async function capture(baseUrl) {
  mkdirSync(plan.outputFolder, { recursive: true });
  const browser = await chromium.launch({
    executablePath: '/usr/bin/chromium',
    args: ['--no-sandbox', '--disable-gpu', '--disable-quic', '--disable-background-networking'],
  });
  for (const { name, path, colorScheme, width, height } of plan.pictures) {
    const page = await browser.newPage({ colorScheme, viewport: { width, height: height ?? 200 } });
    await page.goto(baseUrl + path);
    await page.screenshot({ path: join(plan.outputFolder, `${name}.png`), fullPage: height === undefined });
    await page.close();
  }
  await browser.close();
}

try {
  await run();
} finally {
  for (const child of children) child.kill();
}
