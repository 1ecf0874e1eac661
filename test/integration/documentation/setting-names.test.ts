import assert from 'node:assert/strict';
import { readdirSync } from 'node:fs';
import { test } from 'node:test';
import { parse } from 'yaml';
import { z } from 'zod';
import { listSettingGroups } from '../../../src/config/settings.ts';
import { listSettings, toEnvironmentName, toFlagName } from '../../../src/config/settings.ts';
import { repositoryPath, readRepositoryFile } from '../../support/repository.ts';
import { listPages } from './pages.ts';

const paths = listSettings().map(([path]): string => path);
const groups = listSettingGroups().flatMap(({ name }) => (name === '' ? [] : [name]));

const keys = new Set([
  ...paths,
  // In values of the chart, the configuration is below `config`.
  ...paths.map((path) => `config.${path}`),
  // A flag only.
  'config.check',
  ...listChartValues(),
]);
/** Compose mounts these as files. */
const variables = new Set([...paths.map(toEnvironmentName), 'XVS_CONFIG_FOLDER', 'XVS_SECRETS_FOLDER']);
/** Prometheus and Alertmanager have `--web.external-url`. */
const flags = new Set([...paths.map(toFlagName), '--config.check', '--web.external-url']);

/** Lists the values of the chart with two steps, such as `state.enabled`. */
function listChartValues(): readonly string[] {
  const values: unknown = parse(readRepositoryFile('deploy/helm/xvs-exporter/values.yaml'));
  return Object.entries(z.record(z.string(), z.unknown()).parse(values)).flatMap(([group, value]) =>
    group !== 'config' && typeof value === 'object' && value !== null
      ? Object.keys(value).map((name) => `${group}.${name}`)
      : [],
  );
}

/** Files that name settings: pages, examples, manifests, and comments in the source. */
function listFiles(): readonly string[] {
  const below = ['config', 'deploy', 'src'].flatMap((folder) =>
    readdirSync(repositoryPath(folder), { recursive: true, encoding: 'utf8' }).map(
      (path) => `${folder}/${path}`,
    ),
  );
  return [...new Set([...listPages(), ...below])].filter((path) =>
    /\.(?:md|ya?ml|tpl|txt|ts|service|default)$/.test(path),
  );
}

const texts = listFiles().map((path) => ({ path, text: readRepositoryFile(path) }));

/** Finds the names in all files that match a pattern and are not known. */
function findUnknown(pattern: RegExp, isKnown: (name: string) => boolean): readonly string[] {
  return texts.flatMap(({ path, text }) =>
    [...text.matchAll(pattern)].flatMap(([, name = '']) => (isKnown(name) ? [] : [`${path}: ${name}`])),
  );
}

test('every key of a setting that a page, a manifest or a comment mentions exists', () => {
  const chartGroups = listChartValues().map((name) => name.replace(/\..*/, ''));
  const all = [...groups, ...new Set(chartGroups)].join('|');
  const pattern = new RegExp(`\`((?:config\\.)?(?:${all})\\.[a-z][a-zA-Z_.]*[a-zA-Z])\``, 'g');
  const isFile = (name: string): boolean => /\.(?:ya?ml|json|ts|md|pem|file_sd)$/.test(name);
  const isGroup = (name: string): boolean => [...keys].some((key) => key.startsWith(`${name}.`));
  assert.deepEqual(
    findUnknown(pattern, (name) => keys.has(name) || isGroup(name) || isFile(name)),
    [],
  );
});

test('every variable that a page, a manifest or a comment mentions exists', () => {
  const isForTests = (name: string): boolean => /^XVS_(?:ATTACK|FUZZ|SOAK|TEST)_/.test(name);
  const isOfKubernetes = (name: string): boolean => name.startsWith('XVS_EXPORTER_');
  assert.deepEqual(
    findUnknown(
      /\b(XVS_[A-Z][A-Z_0-9]*[A-Z0-9])\b/g,
      (name) => variables.has(name) || isForTests(name) || isOfKubernetes(name),
    ),
    [],
  );
});

test('every flag of a setting that a page, a manifest or a comment mentions exists', () => {
  const pattern = new RegExp(`(--(?:${groups.join('|')})\\.[a-z][a-z.-]*[a-z])(?=[=\\s\`'"])`, 'g');
  assert.deepEqual(
    findUnknown(pattern, (name) => flags.has(name)),
    [],
  );
});
