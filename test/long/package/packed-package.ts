import { spawnSync } from 'node:child_process';
import { cpSync, symlinkSync } from 'node:fs';
import { join } from 'node:path';
import { z } from 'zod';
import { repositoryPath } from '../../support/repository.ts';
import { TemporaryFolder } from '../../support/temporary-folder.ts';

/** Sources of the package, without build results. */
const SOURCES = [
  '.npmrc',
  'package.json',
  'package-lock.json',
  'tsconfig.json',
  'tsconfig.build.json',
  'README.md',
  'CHANGELOG.md',
  'LICENSE',
  'SECURITY.md',
  'scripts',
  'src',
  'config',
  'docs',
  'man',
  'deploy',
];

const report = z
  .array(
    z.object({
      filename: z.string(),
      files: z.array(z.object({ path: z.string(), mode: z.number() })),
    }),
  )
  .length(1);

/** A package of `npm pack`, made from a copy of the repository in a temporary folder. */
export interface PackedPackage extends Disposable {
  readonly folder: string;
  readonly file: string;
  /** Of the copy. */
  readonly revision: string;
  readonly files: readonly { readonly path: string; readonly mode: number }[];
}

/** Packs a copy of the repository, because packing rebuilds the program, which other tests are running. */
export function pack(): PackedPackage {
  const temporary = new TemporaryFolder();
  const folder = temporary.path;
  const copy = temporary.at('copy');
  for (const name of SOURCES) cpSync(repositoryPath(name), join(copy, name), { recursive: true });
  symlinkSync(repositoryPath('node_modules'), join(copy, 'node_modules'));
  const git = (...args: readonly string[]) => spawnSync('git', args, { cwd: copy, encoding: 'utf8' }).stdout;
  git('init');
  git('-c', 'user.name=t', '-c', 'user.email=t@example.com', 'commit', '--allow-empty', '--message=test');
  const { status, stdout, stderr } = runNpm(copy, [
    'pack',
    '--ignore-scripts=false',
    '--json',
    `--pack-destination=${folder}`,
  ]);
  if (status !== 0) throw new Error(`Expected npm pack to succeed, found\n${stderr}`);
  const [packed] = report.parse(JSON.parse(stdout));
  return {
    folder,
    file: join(folder, packed?.filename ?? ''),
    revision: git('rev-parse', 'HEAD').trim(),
    files: packed?.files ?? [],
    [Symbol.dispose]: () => temporary[Symbol.dispose](),
  };
}

/** Runs npm in a folder, without the variables of the npm that runs this test. */
export function runNpm(cwd: string, args: readonly string[]) {
  return spawnSync('npm', args, { cwd, encoding: 'utf8', env: getOuterEnvironment() });
}

/**
 * Returns the environment with the registry and cache of the machine, but without variables of a running npm
 * script.
 */
export function getOuterEnvironment(): NodeJS.ProcessEnv {
  const own =
    /^(?:npm_(?:lifecycle|package|config_local_prefix|command|execpath|node_execpath)|INIT_CWD|XVS_)/;
  return Object.fromEntries(Object.entries(process.env).filter(([name]) => !own.test(name)));
}
