import assert from 'node:assert/strict';
import { test } from 'node:test';
import { setTimeout as delay } from 'node:timers/promises';
import { countersOf, LABEL_GROUP_NAMES, labelGroup } from '../../src/listing/label-groups.ts';
import { CATALOGUE } from '../../src/metrics/catalogue/catalogue.ts';
import { parseExposition } from '../support/exposition-parser.ts';
import { isInstalled } from '../support/installed-programs.ts';
import { startProgram } from '../support/program.ts';
import { Prometheus } from '../support/prometheus.ts';
import { TemporaryFolder } from '../support/temporary-folder.ts';
import { waitUntil } from '../support/wait-until.ts';
import { serveHttp } from '../unit/upstream/servers.ts';

/** Listings, and seconds, between two new servers. */
const LISTINGS_PER_SERVER = 5;
const LISTINGS_PER_RUN = 3;
const LATE_SERVERS = 6;
const SERVERS = 12;
/** A new label set is at 0 for 90 seconds and until the next listing, and each Prometheus scrapes every 3 seconds. */
const BORN_MS = 97_000;

const CONFIGURATION = `
tasks: { name: opaque }
service_codes: [{ service_code: TESTING, secret: abc, expect: { names: [server-2, server-8] } }]
`;

const NAMES = LABEL_GROUP_NAMES.filter((group) => labelGroup(group).of !== 'single_task')
  .flatMap((group) => countersOf(group))
  .map((key) => CATALOGUE[key].name);
const COUNTERS = `{__name__=~"${NAMES.join('|')}"}`;

/** A service that has a new server every few listings. On each, one task stays, and one begins again under another id. */
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

type Numbers = ReadonlyMap<string, number>;

const ADDED_LABELS = ['__name__', 'instance', 'job'];

/** The name of a series with its labels, but those that Prometheus adds. */
function nameSeries(name: string, labels: Readonly<Record<string, string>>): string {
  const own = Object.entries(labels).filter(([label]) => !ADDED_LABELS.includes(label));
  return `${name}{${own
    .map(([label, value]) => `${label}="${value}"`)
    .toSorted()
    .join()}}`;
}

async function readExposed(url: string): Promise<Numbers> {
  const { families } = parseExposition(await (await fetch(url)).text(), 'text');
  return new Map(
    NAMES.flatMap((name) => families.get(name)?.samples ?? []).map(({ name, labels, value }) => [
      nameSeries(name, labels),
      value,
    ]),
  );
}

/** What each series of a Prometheus has increased since its first sample. */
async function readIncreases(prometheus: Prometheus): Promise<Numbers> {
  const all = await Promise.all(
    NAMES.map(async (name) => {
      const series = await prometheus.query(`last_over_time(${name}[15m]) - min_over_time(${name}[15m])`);
      return series.map(({ metric, value }) => [nameSeries(name, metric), value] as const);
    }),
  );
  return new Map(all.flat());
}

test('two Prometheus servers, one of them late, see every increase', { timeout: 600_000 }, async (t) => {
  if (!isInstalled(t, 'prometheus')) return;
  const service = new Service();
  const serviceUrl = await serveHttp(t, (_, response) => response.end(service.list()));
  using folder = new TemporaryFolder();
  folder.replace('config.yml', CONFIGURATION);
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
      120_000,
    );
  await using early = await start();
  await waitForServers(LATE_SERVERS);
  await using late = await start();
  const known = await late.waitUntil(
    () => late.query(COUNTERS),
    (series) => series.length > 0,
  );
  await waitForServers(SERVERS);
  service.isFrozen = true;
  await delay(BORN_MS);

  const exposed = await readExposed(`http://${address}/metrics`);
  for (const [server, bytes] of service.inputBytes) {
    const labels = { service_code: 'TESTING', vs_id: server };
    assert.equal(exposed.get(nameSeries('xvs_input_bytes_total', labels)), bytes, server);
    const started = exposed.get(nameSeries('xvs_tasks_started_total', labels));
    assert.equal(started, service.started.get(server), server);
  }
  const seen = await readIncreases(early);
  for (const [series, total] of exposed) assert.equal(seen.get(series), total, series);
  const knownNames = new Set(known.map(({ metric }) => nameSeries(metric['__name__'] ?? '', metric)));
  const born = [...exposed].filter(([series]) => !knownNames.has(series));
  assert.ok(born.length > 20, `found ${born.length} series`);
  const increases = await readIncreases(late);
  for (const [series, total] of born) assert.equal(increases.get(series), total, series);
});
