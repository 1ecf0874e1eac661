import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { mkdirSync, readdirSync, writeFileSync } from 'node:fs';
import { dirname, join, normalize, relative, sep } from 'node:path';
import { test } from 'node:test';
import { readRepositoryFile, repositoryPath } from '../support/repository.ts';
import { TemporaryFolder } from '../support/temporary-folder.ts';

const SOURCES = readdirSync(repositoryPath('src'), { recursive: true, encoding: 'utf8' }).filter(
  (path) => path.endsWith('.ts') && !path.includes('assembly'),
);

/** A folder of `src/`, or a file of its root. */
const toModule = (path: string): string => path.split(sep)[0] ?? path;
const MODULES = [...new Set(SOURCES.map(toModule))].toSorted();

/** The modules that each module imports, of types too. */
const IMPORTS = new Map(
  MODULES.map((module) => {
    const imported = SOURCES.filter((path) => toModule(path) === module).flatMap((path) =>
      [...readRepositoryFile(`src/${path}`).matchAll(/(?:from |import\()'(\.[^']+)'/g)].map(
        ([, target = '']) => toModule(normalize(join(dirname(path), target))),
      ),
    );
    return [module, new Set(imported.filter((target) => target !== module))];
  }),
);

test('folders do not import each other in a circle', () => {
  const order: string[] = [];
  for (const module of MODULES) visit(module, []);
  assert.deepEqual(order.toSorted(), MODULES);

  function visit(module: string, importers: readonly string[]): void {
    assert.ok(!importers.includes(module), [...importers, module].join(' → '));
    if (order.includes(module)) return;
    for (const target of IMPORTS.get(module) ?? []) visit(target, [...importers, module]);
    order.push(module);
  }
});

/**
 * Lints imports by the path of their file in `src/`. Returns those that no rule rejects, as `path specifier`.
 */
function findAccepted(
  imports: readonly (readonly [path: string, specifiers: readonly string[]])[],
  format: (specifier: string, index: number) => string,
): readonly string[] {
  using folder = new TemporaryFolder();
  writeFileSync(folder.at('.oxlintrc.json'), readRepositoryFile('.oxlintrc.json'));
  for (const [path, specifiers] of imports) {
    mkdirSync(dirname(folder.at(`src/${path}`)), { recursive: true });
    writeFileSync(folder.at(`src/${path}`), specifiers.map(format).join('\n'));
  }
  const { stdout } = spawnSync(repositoryPath('node_modules/.bin/oxlint'), ['--format=unix', 'src'], {
    cwd: folder.path,
    encoding: 'utf8',
  });
  const matches = stdout.matchAll(/^src\/([^:]+):.* '([^']+)' import is restricted from being used/gm);
  const rejected = new Set([...matches].map(([, path, specifier]) => `${path} ${specifier}`));
  const all = imports.flatMap(([path, specifiers]) => specifiers.map((specifier) => `${path} ${specifier}`));
  return all.filter((one) => !rejected.has(one));
}

test('lint rejects an import of each folder that a folder does not import, of types too', () => {
  const folders = new Set(SOURCES.map(dirname));
  folders.delete('.');
  const importers = [...[...folders].map((folder) => `${folder}/importer.ts`), ...MODULES.filter(isFile)];
  const forbidden = importers.map((path) => {
    const allowed = new Set([toModule(path), ...(IMPORTS.get(toModule(path)) ?? [])]);
    const modules = [...MODULES, 'new-folder'].filter((module) => !allowed.has(module));
    return [
      path,
      modules.map((module) => toSpecifier(path, isFile(module) ? module : `${module}/file.ts`)),
    ] as const;
  });
  assert.deepEqual(
    findAccepted(forbidden, (specifier, index) => `import type { T${index} } from '${specifier}';`),
    [],
  );
});

/** Imports of parts of a folder, or of packages, that a rule rejects. */
const REJECTED: Readonly<Record<string, readonly string[]>> = {
  'commands/importer.ts': ['../metrics/exporter-metrics.ts'],
  'config/importer.ts': ['../poller/polled-code.ts', '../tally/expectations.ts', '../upstream/client.ts'],
  'json-columns/importer.ts': ['node:fs', 'zod'],
  'listing/importer.ts': ['../runtime/clock.ts', 'node:fs', 'pino'],
  'metrics/catalogue.ts': ['../poller/poller.ts', '../tally/account-budget.ts', './web-metrics.ts'],
  'metrics/exposition.ts': ['../runtime/clock.ts', './exporter-metrics.ts', 'node:fs', 'prom-client'],
  'metrics/importer.ts': ['../poller/poller.ts'],
  'tally/importer.ts': ['../runtime/logger.ts', 'node:fs', 'undici'],
  'tally/ledger/importer.ts': ['../../runtime/clock.ts', 'node:fs'],
};

test('lint rejects impure packages, and parts of folders that a folder does not need', () => {
  assert.deepEqual(
    findAccepted(
      Object.entries(REJECTED),
      (specifier, index) => `import { value${index} } from '${specifier}';`,
    ),
    [],
  );
});

function isFile(module: string): boolean {
  return module.endsWith('.ts');
}

function toSpecifier(importer: string, path: string): string {
  const specifier = relative(dirname(importer), path);
  return specifier.startsWith('.') ? specifier : `./${specifier}`;
}
