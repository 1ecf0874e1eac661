import assert from 'node:assert/strict';
import { test } from 'node:test';
import { setTimeout as delay } from 'node:timers/promises';
import { countersOf, LABEL_GROUP_NAMES, labelGroup } from '../../src/listing/label-groups.ts';
import { CATALOGUE } from '../../src/metrics/catalogue.ts';
import { isInstalled } from '../support/installed-programs.ts';
import { startProgram } from '../support/program.ts';
import { Prometheus } from '../support/prometheus.ts';
import { TemporaryFolder } from '../support/temporary-folder.ts';
import { waitUntil } from '../support/wait-until.ts';
import { serveHttp } from '../support/servers.ts';

/** Listings, and seconds, between two new servers. */
const LISTINGS_PER_SERVER = 5;
const LISTINGS_PER_RUN = 3;
const LATE_SERVERS = 6;
const SERVERS = 12;
/**
 * A new label set is at 0 for 90 seconds and until the next listing, and each Prometheus scrapes every 3
 * seconds.
 */
const BORN_MS = 97_000;

const CONFIGURATION = `
tasks: { name: opaque }
service_code_files: [codes.yml]
`;

/** Each task has the name of its server. */
const expectNames = (...names: readonly string[]): string =>
  `[{ service_code: TESTING, secret: abc, expect: { names: [${names.join(', ')}] } }]`;
const FIRST_NAMES = ['server-2', 'server-8'];
/** Names that a reload adds: the tasks of one are listed already, those of the other later. */
const ADDED_NAMES = ['server-1', `server-${LATE_SERVERS + 4}`];

const NAMES = LABEL_GROUP_NAMES.filter((group) => labelGroup(group).of !== 'single_task')
  .flatMap((group) => countersOf(group))
  .map((key) => CATALOGUE[key].name);

/**
 * A service that has a new server every few listings. On each, one task stays, and one begins again under
 * another id.
 */
class Service {
  isFrozen = false;
  listings = 0;
  /** By server, after the first listing. */
  readonly inputBytes = new Map<string, number>();
  readonly started = new Map<string, number>();

  get servers(): number {
    return 1 + Math.floor(this.listings / LISTINGS_PER_SERVER);
  }

  list(): string {
    if (!this.isFrozen) this.listings += 1;
    const tasks = Array.from({ length: this.servers }, (_, index) => this.#listTasks(index)).flat();
    const [first] = tasks;
    const wrong = [
      5,
      { ...first, service_code: 'OTHER' },
      { ...first, id: 'w', vs_id: 5, service_code: 'OTHER' },
    ];
    const isWrong = this.servers > 2 && !this.isFrozen;
    return JSON.stringify({ ret: 0, user_list: [], task_list: [...tasks, ...(isWrong ? wrong : [])] });
  }

  #listTasks(index: number): readonly object[] {
    const server = `server-${index}`;
    const age = this.listings - Math.max(1, index * LISTINGS_PER_SERVER);
    const run = Math.floor(age / LISTINGS_PER_RUN);
    const bytesOfRun = 1000 * (1 + (age % LISTINGS_PER_RUN));
    if (this.listings > 1 && !this.isFrozen) {
      increase(this.inputBytes, server, 2000);
      increase(this.started, server, (age === 0 ? 1 : 0) + (bytesOfRun === 1000 ? 1 : 0));
    }
    return [createTask(server, 'stays', 1000 * (1 + age)), createTask(server, `run-${run}`, bytesOfRun)];
  }
}

function increase(counts: Map<string, number>, key: string, amount: number): void {
  counts.set(key, (counts.get(key) ?? 0) + amount);
}

function createTask(server: string, id: string, bytes: number): object {
  const output = { format: 'flv', file_name: id, http_output_bytes: bytes, streams: [] };
  const inputs = [{ url: 'rtmp://example/live' }];
  return {
    id: `${server}-${id}`,
    vs_id: server,
    opaque: server,
    input_bytes: bytes,
    inputs,
    outputs: [output],
  };
}

/** By server, which is the name of its tasks. */
async function readCounts(prometheus: Prometheus, counter: string): Promise<ReadonlyMap<string, number>> {
  const series = await prometheus.query(counter);
  return new Map(series.map(({ metric: { vs_id, task_name }, value }) => [vs_id ?? task_name ?? '', value]));
}

test('two Prometheus servers, one of them late, see every increase', async (t) => {
  if (!isInstalled(t, 'prometheus')) return;
  const service = new Service();
  const serviceUrl = await serveHttp(t, (_, response) => response.end(service.list()));
  using folder = new TemporaryFolder();
  folder.replace('config.yml', CONFIGURATION);
  folder.replace('codes.yml', expectNames(...FIRST_NAMES));
  await using exporter = startProgram([`--config.file=${folder.at('config.yml')}`, '--poll.interval=1s'], {
    XVS_UPSTREAM_BASE_URL: serviceUrl,
    XVS_WEB_LISTEN_ADDRESS: '127.0.0.1:0',
  });
  const address = `127.0.0.1:${await exporter.waitForPort()}`;
  const start = () => Prometheus.start({ interval: '3s', targets: [address] });
  const waitForServers = (count: number) =>
    waitUntil(
      () => service.servers,
      (servers) => servers >= count,
    );
  await using early = await start();
  await waitForServers(LATE_SERVERS);
  await using late = await start();
  const firstScrape = await late.waitUntil(
    () => late.value('timestamp(xvs_up)'),
    (seconds) => seconds !== undefined,
  );
  // Nothing is gained meanwhile, so it does not matter which listing is the first one with the expectation.
  service.isFrozen = true;
  folder.replace('codes.yml', expectNames(...FIRST_NAMES, ...ADDED_NAMES));
  for (const prometheus of [early, late])
    await prometheus.waitUntil(
      () => prometheus.value('count(xvs_expected_task_input_bytes_total)'),
      (names) => names === FIRST_NAMES.length + ADDED_NAMES.length,
    );
  const before = new Map(service.inputBytes);
  service.isFrozen = false;
  await waitForServers(SERVERS);
  service.isFrozen = true;
  await delay(BORN_MS);

  // A series that begins at 0 increases by its total.
  for (const name of NAMES) {
    const begun = `min_over_time(${name}[15m]) > 0`;
    assert.deepEqual(await early.query(begun), [], name);
    assert.deepEqual(await late.query(`(${begun}) unless ${name} @ ${firstScrape}`), [], name);
  }
  for (const prometheus of [early, late]) {
    const inputBytes = await readCounts(prometheus, 'xvs_input_bytes_total');
    const started = await readCounts(prometheus, 'xvs_tasks_started_total');
    for (const [server, bytes] of service.inputBytes) {
      assert.equal(inputBytes.get(server), bytes, server);
      assert.equal(started.get(server), service.started.get(server), server);
    }
    for (const counter of ['input', 'http_output']) {
      const bytes = await readCounts(prometheus, `xvs_expected_task_${counter}_bytes_total`);
      for (const name of [...FIRST_NAMES, ...ADDED_NAMES]) {
        const bytesBefore = ADDED_NAMES.includes(name) ? (before.get(name) ?? 0) : 0;
        assert.equal(bytes.get(name), (service.inputBytes.get(name) ?? 0) - bytesBefore, name);
      }
    }
  }
  const born = await late.value(`count(xvs_input_bytes_total unless xvs_input_bytes_total @ ${firstScrape})`);
  assert.ok(born !== undefined && born >= 4, `${born}`);
});
