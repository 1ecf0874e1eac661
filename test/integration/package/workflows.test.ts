import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import { parse } from 'yaml';
import { z } from 'zod';
import { listRepositoryFolder, readRepositoryFile, repositoryPath } from '../../support/repository.ts';

const FOLDER = '.github/workflows';
const FILES = listRepositoryFolder(FOLDER);

const workflowSchema = z.looseObject({
  permissions: z.record(z.string(), z.string()),
  jobs: z.record(
    z.string(),
    z.looseObject({
      uses: z.string().optional(),
      'timeout-minutes': z.number().optional(),
      steps: z.array(z.looseObject({ uses: z.string().optional(), run: z.string().optional() })).default([]),
    }),
  ),
});

/** An issue form: each input has an id and a label. */
const formSchema = z.strictObject({
  name: z.string(),
  description: z.string(),
  labels: z.array(z.string()),
  body: z.array(
    z.discriminatedUnion('type', [
      z.strictObject({ type: z.literal('markdown'), attributes: z.strictObject({ value: z.string() }) }),
      z.strictObject({
        type: z.enum(['input', 'textarea', 'dropdown']),
        id: z.string().regex(/^[a-z]+$/),
        attributes: z.strictObject({
          label: z.string(),
          description: z.string().optional(),
          options: z.array(z.string()).optional(),
          render: z.string().optional(),
        }),
        validations: z.strictObject({ required: z.boolean() }).optional(),
      }),
    ]),
  ),
});

const readWorkflow = (name: string) => workflowSchema.parse(parse(readRepositoryFile(FOLDER, name)));

test('checks and releases have workflows', () => {
  assert.deepEqual(FILES, ['ci.yml', 'release.yml']);
});

for (const name of FILES) {
  test(`${name} pins each action by commit, with its version`, () => {
    const uses = readRepositoryFile(FOLDER, name).match(/(?<=uses: )[^.\n].*/g) ?? [];
    assert.ok(uses.length > 0);
    for (const use of uses) assert.match(use, /^[\w-]+\/[\w-]+@[0-9a-f]{40} # v\d+\.\d+\.\d+$/);
  });

  test(`${name} may only read by default, and each job ends`, () => {
    const { permissions, jobs } = readWorkflow(name);
    assert.deepEqual(permissions, { contents: 'read' });
    for (const [job, { uses, 'timeout-minutes': minutes }] of Object.entries(jobs)) {
      assert.ok(uses !== undefined || minutes !== undefined, `Expected timeout-minutes of ${job}`);
    }
  });
}

test('npm run check:workflows finds a mistake', (t) => {
  const folder = mkdtempSync(join(tmpdir(), 'xvs-workflow-'));
  t.after(() => rmSync(folder, { recursive: true }));
  const path = join(folder, 'bad.yml');
  writeFileSync(path, 'on: push\njobs:\n  a:\n    runs-on: ubuntu-24.04\n    steps:\n      - runs: true\n');
  const args = ['run', '--silent', 'check:workflows', '--', path];
  const { status, stdout } = spawnSync('npm', args, { cwd: repositoryPath(), encoding: 'utf8' });
  assert.equal(status, 1);
  assert.match(stdout, /bad\.yml:6:9 unexpected key "runs" for "step" section/);
});

test('the linter of workflows is part of npm run check', () => {
  const { scripts } = z
    .looseObject({ scripts: z.record(z.string(), z.string()) })
    .parse(JSON.parse(readRepositoryFile('package.json')));
  assert.match(scripts['check'] ?? '', /npm run check:workflows/);
});

test('the code of a pull request does not run in a privileged container', () => {
  const options = z
    .object({ options: z.string() })
    .parse(readWorkflow('ci.yml').jobs['checks']?.['container']);
  assert.match(options.options, /github\.event_name != 'pull_request' && '--privileged'/);
});

test('CI runs .ci/run, and a release runs CI first', () => {
  const { checks } = readWorkflow('ci.yml').jobs;
  assert.ok(checks?.steps.some(({ run }) => run === '.ci/run'));
  const { jobs } = readWorkflow('release.yml');
  assert.equal(jobs['checks']?.uses, './.github/workflows/ci.yml');
  for (const job of ['package', 'image']) {
    assert.deepEqual(z.array(z.string()).parse(jobs[job]?.['needs']), ['ready', 'checks'], job);
  }
});

test('the issue forms are valid', () => {
  for (const name of ['bug_report.yml', 'feature_request.yml']) {
    assert.doesNotThrow(
      () => formSchema.parse(parse(readRepositoryFile('.github/ISSUE_TEMPLATE', name))),
      name,
    );
  }
});
