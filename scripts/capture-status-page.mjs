// Captures pictures of the status page: runs a simulated service with faults and an exporter for two minutes,
// and opens the pages in Chromium (/usr/bin/chromium). Run it after `npm run build` and `npm run
// compile:simulator`; it writes docs/pictures/status-page.
import { spawn } from 'node:child_process';
import { mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join, resolve } from 'node:path';
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
  'CHAMPIONSHIP_FINAL_MAIN_ARENA_2026',
  'NEWSROOM',
  'TESTING',
  'THEATRE',
];
const STREAMS = ['main', 'backup'];
/** These service codes expect the streams. */
const EXPECTING = ['CONCERT', 'STADIUM', 'ARENA'];
const EXPECTED = [{ name: 'main', min_input_rate: '2Mbit/s', outputs: 3 }, { name: 'backup' }];
const PICTURES = [
  { name: 'list-light', path: '/', colorScheme: 'light', width: 1440, height: 720 },
  { name: 'list-dark', path: '/', colorScheme: 'dark', width: 1440, height: 720 },
  {
    name: 'code-light',
    path: '/service-codes/?service_code=CONCERT',
    colorScheme: 'light',
    width: 1280,
    height: 1040,
  },
  {
    name: 'code-dark',
    path: '/service-codes/?service_code=STADIUM',
    colorScheme: 'dark',
    width: 1280,
    height: 1040,
  },
  {
    name: 'code-slow',
    path: '/service-codes/?service_code=ARENA',
    colorScheme: 'light',
    width: 1280,
    height: 720,
  },
  { name: 'list-phone', path: '/', colorScheme: 'light', width: 360, height: 760 },
  {
    name: 'code-phone',
    path: '/service-codes/?service_code=CONCERT',
    colorScheme: 'dark',
    width: 360,
    height: 760,
  },
];
const children = [];
/** As an installed package: the pages show how the exporter was started. */
const program = join(mkdtempSync(join(tmpdir(), 'xvs-')), 'xvs-exporter');
/** The pages show this path. */
const configurationFile = join(tmpdir(), 'exporter.yml');

/** Starts a program; resolves with the first group of the pattern in its output. */
async function start(script, args, pattern, environment = {}) {
  const child = spawn(process.execPath, [resolve(root, script), ...args], {
    env: { PATH: process.env.PATH, ...environment },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  children.push(child);
  return await new Promise((found, reject) => {
    let text = '';
    const onData = (chunk) => {
      text += chunk;
      const match = pattern.exec(text);
      if (match !== null) found(match[1]);
    };
    child.stdout.on('data', onData);
    child.stderr.on('data', onData);
    child.once('exit', () => reject(new Error(`Expected ${pattern}, found ${text}`)));
  });
}

function createEnvironment(baseUrl) {
  const codes = NAMES.map((name) => ({
    service_code: name,
    ...(EXPECTING.includes(name) && { expect: { names: EXPECTED } }),
  }));
  // JSON is YAML, too.
  writeFileSync(configurationFile, JSON.stringify({ service_codes: codes, tasks: { name: 'opaque.room' } }));
  return {
    XVS_CONFIG_FILE: configurationFile,
    XVS_UPSTREAM_BASE_URL: baseUrl,
    XVS_SECRET: SECRET,
    XVS_POLL_INTERVAL: '1s',
    XVS_POLL_STALE_AFTER: '2m',
    XVS_POLL_STALL_AFTER: '15s',
    XVS_WEB_LISTEN_ADDRESS: '127.0.0.1:0',
    XVS_WEB_GRAFANA_URL: 'https://grafana.example.com',
    XVS_LOG_FORMAT: 'json',
  };
}

async function run() {
  const serviceCodes = NAMES.map((code) => `--service-code=${code}:${SECRET}`);
  const size = ['--users=800', '--tasks=60', ...STREAMS.map((name) => `--stream=${name}`)];
  const service = await start(
    'build/test/simulator/main.js',
    ['--listen-address=127.0.0.1:0', '--seed=7', ...size, ...serviceCodes],
    / on (http:\S+)/,
  );
  symlinkSync(join(root, 'dist/main.js'), program);
  const port = await start(program, [], /"port":(\d+),"msg":"Listening"/, createEnvironment(service));
  const injectFault = (fault) => fetch(`${service}/-/faults`, { method: 'PUT', body: JSON.stringify(fault) });
  await delay(10_000);
  await injectFault({ fault: 'slow_ingest', name: 'main', serviceCode: 'ARENA' });
  await delay(90_000);
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
  const browser = await chromium.launch({
    executablePath: '/usr/bin/chromium',
    args: ['--no-sandbox', '--disable-gpu', '--disable-quic', '--disable-background-networking'],
  });
  for (const { name, path, colorScheme, width, height } of PICTURES) {
    const page = await browser.newPage({ colorScheme, viewport: { width, height } });
    await page.goto(baseUrl + path);
    await page.screenshot({ path: join(root, `docs/pictures/status-page/${name}.png`) });
    await page.close();
  }
  await browser.close();
}

try {
  await run();
} finally {
  for (const child of children) child.kill();
  rmSync(configurationFile, { force: true });
  rmSync(dirname(program), { recursive: true });
}
