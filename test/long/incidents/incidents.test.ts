import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { test } from 'node:test';
import { ALERTMANAGER, Alertmanager } from '../../support/alertmanager.ts';
import { listDeployYaml, readDeployFile } from '../../support/deploy-files.ts';
import { isInstalled } from '../../support/installed-programs.ts';
import { startProgram, type Program } from '../../support/program.ts';
import { Prometheus } from '../../support/prometheus.ts';
import { repositoryPath } from '../../support/repository.ts';
import { scaleDurations } from '../../support/scale-durations.ts';
import { TemporaryFolder } from '../../support/temporary-folder.ts';
import { waitUntil } from '../../support/wait-until.ts';
import { ALL_TASKS, IncidentService, type Fault } from './incident-service.ts';
import { startWebhookReceiver, type AlertNotification } from '../../support/webhook-receiver.ts';

/** Durations in rules and routes are divided by this: a minute becomes three seconds. */
const TIME_DIVISOR = 20;
/** Longer than a new label set of a counter is at 0. */
const WARM_UP_SECONDS = 100;
/** Longer than all scaled ranges and times after recovery, but for those of an hour. */
const CALM_SECONDS = 40;

/** An exporter with six service codes in a file that it watches, which keeps its port when it restarts. */
class Exporter implements AsyncDisposable {
  readonly codes: readonly string[];
  address = '';
  program: Program;
  readonly #folder = new TemporaryFolder();
  readonly #url: string;
  readonly #args: readonly string[];

  constructor(url: string, codes: readonly string[], args: readonly string[] = []) {
    this.codes = codes;
    this.#url = url;
    this.writeConfiguration();
    this.writeCodes();
    this.#args = [
      `--config.file=${this.#folder.at('config.yml')}`,
      `--state.path=${this.#folder.at('state')}`,
      '--poll.interval=1s',
      '--poll.stall-after=2s',
      '--upstream.max-response-size=1MiB',
      `--upstream.ca-file=${repositoryPath('test/fixtures/tls/ca.pem')}`,
      ...args,
    ];
    this.program = startProgram([...this.#args, '--web.listen-address=127.0.0.1:0']);
  }

  async waitUntilListening(): Promise<void> {
    this.address = `127.0.0.1:${await this.program.waitForPort()}`;
  }

  restart(): void {
    this.program = startProgram([...this.#args, `--web.listen-address=${this.address}`]);
  }

  /** Writes the file of service codes with settings for each code, and expects streams of those that are named for it. */
  writeCodes(settings: object = {}, codes: readonly string[] = this.codes): void {
    const list = codes.map((code) => ({
      service_code: code,
      ...(!code.endsWith('without-names') && { expect: { names: ['main', 'backup'] } }),
      ...settings,
    }));
    this.#folder.replace('codes.yml', JSON.stringify(list));
  }

  writeConfiguration(settings: object = {}): void {
    const configuration = {
      secret: 'abc',
      tasks: { name: 'opaque.room' },
      upstream: { base_url: this.#url },
      service_code_files: ['codes*.yml'],
      ...settings,
    };
    this.#folder.replace('config.yml', JSON.stringify(configuration));
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.program.signal('SIGKILL');
    await this.program[Symbol.asyncDispose]();
    this.#folder[Symbol.dispose]();
  }
}

interface Incident {
  /** The cluster of its exporters in Prometheus, or a service code of the cluster `codes`. */
  readonly name: string;
  /** A fault of the service, for all codes of the cluster, or for the code. */
  readonly fault?: Fault;
  /** What happens to the last exporter of the cluster, and how it ends. */
  readonly begin?: (exporter: Exporter, service: IncidentService) => void;
  readonly end?: (exporter: Exporter) => void;
  /** The groups of notifications, by receiver and alert of the first notification. */
  readonly groups: readonly string[];
}

const limitFileSize = (limit: string) => (exporter: Exporter) => {
  spawnSync('prlimit', [`--pid=${exporter.program.pid}`, `--fsize=${limit}`]);
};
const reload = (settings?: object) => (exporter: Exporter) => {
  exporter.writeConfiguration(settings);
  exporter.program.signal('SIGHUP');
};
const sendSignal = (name: NodeJS.Signals) => (exporter: Exporter) => exporter.program.signal(name);
const restart = (exporter: Exporter) => exporter.restart();
const restoreCodes = (exporter: Exporter) => exporter.writeCodes();

const CODES_CLUSTER = 'codes';
const INCIDENTS: readonly Incident[] = [
  { name: 'code-frozen', fault: { silent: ALL_TASKS }, groups: ['xvs-critical XvsIngestStopped'] },
  {
    name: 'code-two-gone',
    fault: { gone: ['main', 'backup'] },
    groups: ['xvs-critical XvsExpectedTaskDown'],
  },
  {
    name: 'code-one-stalled',
    fault: { silent: ['main'] },
    groups: ['xvs-critical XvsExpectedTaskDown', 'xvs-warning XvsIngestStalled'],
  },
  { name: 'code-down', fault: { isRefused: true }, groups: ['xvs-critical XvsApiDown'] },
  { name: 'code-emptied-without-names', fault: { isEmpty: true }, groups: ['xvs-warning XvsTasksDropped'] },
  { name: 'all-emptied', fault: { isEmpty: true }, groups: ['xvs-critical XvsTasksVanished'] },
  { name: 'all-down', fault: { isRefused: true }, groups: ['xvs-critical XvsApiDown'] },
  { name: 'secret-rotated', fault: { ret: 401 }, groups: ['xvs-critical XvsApiDown'] },
  { name: 'clock-off', fault: { ret: 1001, clockOffsetMs: 600_000 }, groups: ['xvs-critical XvsApiDown'] },
  { name: 'too-large', fault: { bytes: 2e6 }, groups: ['xvs-critical XvsApiDown'] },
  {
    name: 'dns',
    begin: (exporter) => exporter.writeCodes({ base_url: 'http://live-video.invalid' }),
    end: restoreCodes,
    groups: ['xvs-critical XvsApiDown'],
  },
  {
    name: 'certificate-expired',
    begin: (exporter, service) => exporter.writeCodes({ base_url: service.urlWithExpiredCertificate }),
    end: restoreCodes,
    groups: ['xvs-critical XvsApiDown'],
  },
  {
    name: 'shard-killed',
    begin: sendSignal('SIGKILL'),
    end: restart,
    groups: ['xvs-critical XvsShardMissing', 'xvs-warning XvsExporterInstanceDown'],
  },
  { name: 'killed', begin: sendSignal('SIGKILL'), end: restart, groups: ['xvs-critical XvsExporterDown'] },
  {
    name: 'stopped',
    begin: sendSignal('SIGSTOP'),
    end: sendSignal('SIGCONT'),
    groups: ['xvs-critical XvsExporterDown'],
  },
  {
    name: 'disk-full',
    begin: limitFileSize('0:unlimited'),
    end: limitFileSize('unlimited:unlimited'),
    groups: ['xvs-warning XvsStateNotWritten'],
  },
  {
    name: 'reload-broken',
    begin: reload({ unknown_setting: true }),
    end: reload(),
    groups: ['xvs-warning XvsConfigReloadFailed'],
  },
  {
    name: 'codes-removed',
    begin: (exporter) => exporter.writeCodes({}, exporter.codes.slice(0, 2)),
    end: restoreCodes,
    groups: ['xvs-warning XvsServiceCodesDropped'],
  },
];

/** Exporters by cluster. */
class Clusters extends Map<string, readonly Exporter[]> implements AsyncDisposable {
  list(): readonly Exporter[] {
    return [...this.values()].flat();
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await Promise.all(this.list().map((exporter) => exporter[Symbol.asyncDispose]()));
  }
}

function startExporters(url: string): Clusters {
  const listCodes = (cluster: string) => Array.from({ length: 6 }, (_, index) => `${cluster}-${index}`);
  const clusters = INCIDENTS.map(({ name }) => name).filter((name) => !name.startsWith('code-'));
  const single = INCIDENTS.map(({ name }) => name).filter((name) => name.startsWith('code-'));
  return new Clusters([
    [CODES_CLUSTER, [new Exporter(url, [...single, 'code-calm'])]],
    ...clusters.map((cluster): [string, readonly Exporter[]] => {
      const shards = cluster === 'shard-killed' ? [0, 1] : [undefined];
      const exporters = shards.map(
        (shard) =>
          new Exporter(
            url,
            listCodes(cluster),
            shard === undefined ? [] : ['--shard.count=2', `--shard.index=${shard}`],
          ),
      );
      return [cluster, exporters];
    }),
  ]);
}

test('each incident is one group of notifications, or a page and a warning, and none comes after recovery', async (t) => {
  if (!isInstalled(t, 'prometheus') || !isInstalled(t, ALERTMANAGER) || !isInstalled(t, 'prlimit')) return;
  const service = await IncidentService.start(t);
  await using exporters = startExporters(service.url);
  for (const exporter of exporters.list()) await exporter.waitUntilListening();
  const receiver = await startWebhookReceiver(t);
  const routes = readDeployFile('alertmanager/alertmanager.yml');
  await using alertmanager = await Alertmanager.start(
    scaleDurations(routes.replaceAll('http://localhost:9095', receiver.url), TIME_DIVISOR),
  );
  const jobs = [
    {
      job_name: 'xvs-exporter',
      static_configs: [...exporters].map(([cluster, members]) => ({
        targets: members.map(({ address }) => address),
        labels: { cluster },
      })),
    },
  ];
  await using prometheus = await Prometheus.start({
    jobs,
    rules: listDeployYaml('prometheus/rules').map((name) =>
      scaleDurations(readDeployFile(name), TIME_DIVISOR),
    ),
    alertmanager: alertmanager.address,
  });

  /** Lists the first firing notification of each group. */
  const listFirsts = (incident: string): readonly AlertNotification[] => {
    const own = receiver.notifications.filter(({ labels, status }) => {
      const { cluster = '', service_code: code = '' } = labels;
      return status === 'firing' && (cluster === CODES_CLUSTER ? code : cluster) === incident;
    });
    return [...new Map(own.toReversed().map((notice) => [notice.groupKey, notice])).values()];
  };
  const listGroups = (incident: string): readonly string[] =>
    listFirsts(incident)
      .map(({ receiver: name, labels }) => `${name} ${labels['alertname']}`)
      .toSorted();
  const exporterOf = ({ name }: Incident): Exporter => {
    const exporter = exporters.get(name.startsWith('code-') ? CODES_CLUSTER : name)?.at(-1);
    assert.ok(exporter !== undefined);
    return exporter;
  };
  const codesOf = (incident: Incident): readonly string[] =>
    incident.name.startsWith('code-') ? [incident.name] : exporterOf(incident).codes;

  await prometheus.waitUntil(
    () => prometheus.value('min(xvs_exporter_time_seconds - process_start_time_seconds)'),
    (seconds = 0) => seconds > WARM_UP_SECONDS,
  );
  assert.deepEqual(
    receiver.notifications.map(({ labels }) => [labels['cluster'], labels['alertname']]),
    [],
  );

  const beginMs = performance.now();
  for (const incident of INCIDENTS) {
    service.setFault(codesOf(incident), incident.fault);
    incident.begin?.(exporterOf(incident), service);
  }
  await waitUntil(
    () => INCIDENTS.filter(({ name, groups }) => groups.some((group) => !listGroups(name).includes(group))),
    (missing) => missing.length === 0,
  );
  for (const incident of INCIDENTS) {
    service.setFault(codesOf(incident));
    incident.end?.(exporterOf(incident));
  }
  await prometheus.waitUntil(
    () => prometheus.query(`max_over_time(ALERTS{alertstate="firing"}[${CALM_SECONDS}s])`),
    (firing) => firing.length === 0,
  );
  assert.deepEqual(await alertmanager.alerts(), []);
  for (const { name, groups } of INCIDENTS) {
    await t.test(name, (subtest) => {
      for (const { receivedMs, annotations } of listFirsts(name)) {
        const seconds = Math.round((receivedMs - beginMs) / 1000);
        subtest.diagnostic(`after ${seconds} s: ${annotations['description']}`);
      }
      assert.deepEqual(listGroups(name), groups);
    });
  }
});
