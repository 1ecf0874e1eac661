// Renders the pictures of the dashboards in docs/pictures/dashboards:
//
//   npm run build && npx tsc -p tsconfig.json && node deploy/grafana/pictures/make.mjs
//     [--minutes=8] [--recorded] [--light] [--more-codes=2000]
//
// Requires Prometheus and Chromium. The first run installs Grafana's components, about 450 MB, in .cache/;
// they are not dependencies of the project. `--recorded` renders the last recording again. Light pictures,
// and those of more codes, are only to be looked at, in the cache.
import { spawnSync } from 'node:child_process';
import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { parseArgs } from 'node:util';
import { bundle } from './bundle.mjs';
import { cache, install, installed, root } from './tool-cache.mjs';

const WIDTH = 1600;
/** Chromium asks no server: a page of a file could not load the icons. */
const ORIGIN = 'http://pictures.invalid/';
const ICONS = '/public/build/img/icons/';

const { values: flags } = parseArgs({
  options: {
    minutes: { type: 'string', default: '8' },
    recorded: { type: 'boolean', default: false },
    light: { type: 'boolean', default: false },
    'more-codes': { type: 'string', default: '0' },
    chromium: { type: 'string', default: 'chromium' },
  },
});

const isPublished = !flags.light && flags['more-codes'] === '0';
const target = isPublished ? join(root, 'docs/pictures/dashboards') : join(cache, 'pictures');

install();
mkdirSync(target, { recursive: true });
if (!flags.recorded) await record(Number(flags.minutes));
await bundle();
await draw();

async function record(minutes) {
  console.log(`Letting a service and an exporter run for ${minutes} minutes …`);
  const compiled = pathToFileURL(join(root, 'build/deploy/grafana/pictures/record.js')).href;
  const recorder = await import(compiled);
  for (const [uid, recording] of await recorder.record(minutes, Number(flags['more-codes']))) {
    writeFileSync(join(cache, `${uid}.json`), recording);
  }
}

async function draw() {
  const profile = mkdtempSync(join(tmpdir(), 'xvs-chromium-'));
  const context = await installed('playwright-core').chromium.launchPersistentContext(profile, {
    executablePath: spawnSync('which', [flags.chromium], { encoding: 'utf8' }).stdout.trim(),
    args: ['--no-sandbox', '--disable-gpu', '--disable-quic', '--disable-background-networking'],
    viewport: { width: WIDTH, height: 1000 },
    timezoneId: 'UTC',
  });
  await context.route(`${ORIGIN}**`, (route) => {
    const path = findFile(new URL(route.request().url()).pathname);
    return existsSync(path) ? route.fulfill({ path }) : route.abort();
  });
  try {
    const recordings = readdirSync(cache).filter((name) => /^xvs-.*\.json$/.test(name));
    for (const name of recordings) await drawOne(context, name.slice(0, -'.json'.length));
  } finally {
    await context.close();
    rmSync(profile, { recursive: true, force: true });
  }
}

/** The page and its parts are in the cache, the icons in the package of the components. */
function findFile(path) {
  if (!path.startsWith(ICONS)) return join(cache, path);
  return join(cache, 'node_modules/@grafana/ui/dist/public/img/icons', path.slice(ICONS.length));
}

async function drawOne(context, uid) {
  const recording = JSON.parse(readFileSync(join(cache, `${uid}.json`), 'utf8'));
  const page = await context.newPage();
  const problems = [];
  page.on('pageerror', (error) => problems.push(error.stack));
  await page.goto(`${ORIGIN}page.html#${flags.light ? 'light' : 'dark'}`);
  const height = await page.evaluate(
    ([one, width]) => globalThis.drawDashboard(one, width),
    [recording, WIDTH],
  );
  await page.setViewportSize({ width: WIDTH, height });
  await page.waitForFunction(() => globalThis.isDrawn?.() ?? false);
  if (problems.length > 0) throw new Error(`Expected ${uid} without errors, found ${problems.join('\n')}`);
  const png = compress(await page.screenshot());
  writeFileSync(join(target, `${uid}.png`), png);
  console.log(`${uid}.png: ${WIDTH} × ${height}, ${Math.round(png.length / 1024)} KB`);
  await page.close();
}

/** A palette of 128 colours reduces the size to a third without a visible difference. */
function compress(png) {
  const upng = installed('upng-js');
  const image = upng.decode(png);
  return Buffer.from(upng.encode(upng.toRGBA8(image), image.width, image.height, 128));
}
