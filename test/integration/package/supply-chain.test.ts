import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { z } from 'zod';
import { readFixture } from '../../support/fixtures.ts';

const ROOT = fileURLToPath(new URL('../../../..', import.meta.url));

const manifestSchema = z.object({
  scripts: z.record(z.string(), z.string()),
  dependencies: z.record(z.string(), z.string()),
});
const lockSchema = z.object({
  packages: z.record(
    z.string(),
    z.object({
      version: z.string(),
      dev: z.boolean().optional(),
      hasInstallScript: z.boolean().optional(),
      integrity: z.string().optional(),
      license: z.string().optional(),
    }),
  ),
});

const manifest = manifestSchema.parse(JSON.parse(readFixture('../../package.json').toString()));
const { packages } = lockSchema.parse(JSON.parse(readFixture('../../package-lock.json').toString()));
const installed = Object.entries(packages).filter(([path]) => path !== '');

test('one package has an install script, this one has none, and none is run', () => {
  assert.ok(installed.length > 50);
  assert.deepEqual(
    installed.filter(([, { hasInstallScript }]) => hasInstallScript === true).map(([path]) => path),
    ['node_modules/classic-level'],
  );
  assert.match(readFixture('../../.npmrc').toString(), /^ignore-scripts=true$/m);
  const hooks = [
    'preinstall',
    'install',
    'postinstall',
    'prepublish',
    'preprepare',
    'prepare',
    'postprepare',
  ];
  assert.deepEqual(
    hooks.filter((hook) => hook in manifest.scripts),
    [],
  );
});

test('every package has a digest in the lock file', () => {
  assert.deepEqual(
    installed.filter(([, { integrity }]) => integrity?.startsWith('sha512-') !== true).map(([path]) => path),
    [],
  );
});

test('npm run sbom lists the shipped packages with their licences, and no development dependency', () => {
  const { status, stdout } = spawnSync('npm', ['run', '--silent', 'sbom'], { cwd: ROOT, encoding: 'utf8' });
  assert.equal(status, 0);
  const sbom = z
    .object({
      bomFormat: z.literal('CycloneDX'),
      metadata: z.object({ component: z.object({ name: z.literal('xvs-exporter') }) }),
      components: z.array(
        z.object({ name: z.string(), version: z.string(), licenses: z.array(z.unknown()).min(1) }),
      ),
    })
    .parse(JSON.parse(stdout));
  const names = sbom.components.map(({ name }) => name);
  for (const name of Object.keys(manifest.dependencies)) assert.ok(names.includes(name), name);
  const shipped = installed.filter(([, { dev }]) => dev !== true);
  assert.equal(sbom.components.length, shipped.length);
});
