import assert from 'node:assert/strict';
import { test } from 'node:test';
import { parse } from 'yaml';
import { z } from 'zod';
import { listRepositoryFolder, readRepositoryFile } from '../../support/repository.ts';

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

const readWorkflow = (name: string) => workflowSchema.parse(parse(readRepositoryFile(FOLDER, name)));

for (const name of FILES) {
  test(`${name} may only read by default, and each job ends`, () => {
    const { permissions, jobs } = readWorkflow(name);
    assert.deepEqual(permissions, { contents: 'read' });
    for (const [job, { uses, 'timeout-minutes': minutes }] of Object.entries(jobs)) {
      assert.ok(uses !== undefined || minutes !== undefined, `Expected timeout-minutes of ${job}`);
    }
  });
}

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
