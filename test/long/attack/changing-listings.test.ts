import assert from 'node:assert/strict';
import { test, type TestContext } from 'node:test';
import { AttackedExporter } from '../../e2e/attack/attacked-exporter.ts';
import { buildTasksWithNewIds } from '../../e2e/attack/hostile-service.ts';
import { MAX_COST_RATIO } from '../../support/cost-ratio.ts';
import { serveHttp } from '../../support/servers.ts';
import { TemporaryFolder } from '../../support/temporary-folder.ts';
import { waitUntil } from '../../support/wait-until.ts';

/** Polls that fill the accounts, and those that are measured. */
const WARM_UP_POLLS = 40;
const MEASURED_POLLS = 20;

type BuildListing = (generation: number) => Buffer;

/** Builds a listing of tasks with one output each, whose name has a generation. */
const buildRenamedOutputs: BuildListing = (generation) => {
  const list = Array.from({ length: 1000 }, (_, index) => {
    const output = { file_name: `file-${generation}`, format: 'flv', http_output_bytes: 1, streams: [] };
    return { id: `task-${index}`, vs_id: 'v', input_bytes: 1, inputs: [], outputs: [output] };
  });
  return Buffer.from(JSON.stringify({ ret: 0, user_list: [], task_list: list }));
};

/** Runs the program with a state, and returns its CPU time for each poll. */
async function measurePollMs(
  t: TestContext,
  build: (poll: number) => string | Buffer,
  coding: string,
): Promise<number> {
  using folder = new TemporaryFolder();
  let polls = 0;
  const url = await serveHttp(t, (_request, response) => {
    polls += 1;
    response.writeHead(200, { 'content-encoding': coding }).end(build(polls));
  });
  await using exporter = await AttackedExporter.start({
    XVS_UPSTREAM_BASE_URL: url,
    XVS_POLL_INTERVAL: '1s',
    XVS_STATE_PATH: folder.at('state'),
  });
  const waitForPoll = (poll: number) =>
    waitUntil(
      () => Promise.resolve(polls),
      (count) => count >= poll,
    );
  const first = await waitForPoll(WARM_UP_POLLS);
  const startMs = exporter.program.cpuMs;
  const last = await waitForPoll(WARM_UP_POLLS + MEASURED_POLLS);
  return (exporter.program.cpuMs - startMs) / (last - first);
}

const ATTACKS: readonly (readonly [name: string, build: BuildListing, coding: string])[] = [
  ['20,000 new tasks', (generation) => buildTasksWithNewIds(`${generation}`, 20_000), 'gzip'],
  ['a renamed output of each of 1,000 tasks', buildRenamedOutputs, 'identity'],
];

for (const [name, build, coding] of ATTACKS)
  test(`${name} in each listing cost at most ${MAX_COST_RATIO} times what the same ones do`, async (t) => {
    const [changing, ordinary] = await Promise.all([
      measurePollMs(t, (poll) => build(1000 + poll), coding),
      measurePollMs(t, () => build(1000), coding),
    ]);
    t.diagnostic(`${changing.toFixed(0)} ms of CPU time a poll, and ${ordinary.toFixed(0)} ms`);
    assert.ok(changing <= MAX_COST_RATIO * ordinary, `${changing} ms, and ${ordinary} ms`);
  });
