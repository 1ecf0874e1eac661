import assert from 'node:assert/strict';
import { test } from 'node:test';
import { z } from 'zod';
import { readFixture } from '../../support/fixtures.ts';

const manifestSchema = z.object({
  scripts: z.record(z.string(), z.string()),
});
const lockSchema = z.object({
  packages: z.record(
    z.string(),
    z.object({
      hasInstallScript: z.boolean().optional(),
      integrity: z.string().optional(),
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
