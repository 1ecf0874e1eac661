import { existsSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { cache, installed, root } from './tool-cache.mjs';

/** An importer in `.mjs` gets another default export of this CommonJS package. */
const scrollbars = {
  name: 'scrollbars',
  setup({ onResolve, onLoad }) {
    const filter = /^react-custom-scrollbars-2$/;
    onResolve({ filter }, ({ namespace, path }) =>
      namespace === 'scrollbars' ? { path: installed.resolve(path) } : { path, namespace: 'scrollbars' },
    );
    onLoad({ filter, namespace: 'scrollbars' }, ({ path }) => ({
      contents: `export { Scrollbars, Scrollbars as default } from ${JSON.stringify(path)}`,
      resolveDir: cache,
    }));
  },
};

/** Bundles the page to capture: `page.html` in the cache. */
export async function bundle() {
  await installed('esbuild').build({
    entryPoints: [join(root, 'deploy/grafana/pictures/page.jsx')],
    outfile: join(cache, 'page.js'),
    bundle: true,
    jsx: 'automatic',
    format: 'iife',
    nodePaths: [join(cache, 'node_modules')],
    alias: { 'react-router-dom-v5-compat': 'react-router-dom' },
    loader: { '.svg': 'dataurl', '.woff2': 'dataurl', '.woff': 'dataurl', '.ttf': 'dataurl' },
    define: { 'process.env.NODE_ENV': '"production"', global: 'globalThis' },
    logLevel: 'error',
    plugins: [scrollbars],
  });
  const style = existsSync(join(cache, 'page.css')) ? '<link rel="stylesheet" href="page.css">' : '';
  writeFileSync(
    join(cache, 'page.html'),
    `<!doctype html><meta charset="utf-8">${style}<div id="page"></div><script src="page.js"></script>`,
  );
}
