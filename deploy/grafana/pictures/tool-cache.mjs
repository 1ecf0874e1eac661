// The cache folder of the picture tools, and the packages that they install.
import { spawnSync } from 'node:child_process';
import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

export const root = fileURLToPath(new URL('../../..', import.meta.url));
export const cache = join(root, '.cache/grafana-pictures');
/** Resolves and requires packages in the cache. */
export const installed = createRequire(join(cache, 'package.json'));

const COMPONENTS = {
  '@grafana/data': '13.2.2',
  '@grafana/e2e-selectors': '13.2.2',
  '@grafana/i18n': '13.2.2',
  '@grafana/runtime': '13.2.2',
  '@grafana/schema': '13.2.2',
  '@grafana/ui': '13.2.2',
  esbuild: '0.28.2',
  'playwright-core': '1.65.1',
  react: '19.3.1',
  'react-dom': '19.3.1',
  'react-router-dom': '6.30.6',
  rxjs: '7.8.2',
  'upng-js': '2.1.0',
};

/** Installs Grafana's components and the tools in the cache if they are missing. */
export function install() {
  mkdirSync(cache, { recursive: true });
  const manifest = JSON.stringify({ private: true, dependencies: COMPONENTS }, null, 2);
  const path = join(cache, 'package.json');
  const isInstalled = existsSync(join(cache, 'node_modules')) && existsSync(path);
  if (isInstalled && readFileSync(path, 'utf8') === manifest) return;
  writeFileSync(path, manifest);
  console.log("Installing Grafana's components …");
  // Install scripts would build unneeded parts; peer dependencies of these packages conflict.
  const options = ['--legacy-peer-deps', '--ignore-scripts', '--no-audit', '--no-fund', '--loglevel=error'];
  const { status } = spawnSync('npm', ['install', ...options], { cwd: cache, stdio: 'inherit' });
  if (status !== 0) throw new Error(`Expected npm to install the components, it ended with ${status}`);
}
