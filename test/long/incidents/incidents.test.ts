import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { test } from 'node:test';
import { isInstalled } from '../../support/installed-programs.ts';
import { waitUntil } from '../../support/wait-until.ts';
import type { AlertNotification } from '../../support/webhook-receiver.ts';
import { Clusters, Exporter, hasLabPrograms, settle, startLab } from './incident-lab.ts';
import { ALL_TASKS, IncidentService, type Fault } from './incident-service.ts';

/** Longer than all scaled ranges and times after recovery, but for those of an hour. */
const CALM_SECONDS = 40;

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
    groups: ['xvs-critical XvsExpectedTaskDown'],
  },
  {
    name: 'code-flapping',
    fault: { flapping: ['main'] },
    groups: ['xvs-critical XvsExpectedTaskDown', 'xvs-warning XvsTaskFlapping'],
  },
  {
    name: 'code-undelivered',
    fault: { undelivered: ALL_TASKS },
    groups: ['xvs-critical XvsDeliveryBlackhole'],
  },
  { name: 'code-users-lost', fault: { users: 5 }, groups: ['xvs-warning XvsUsersDropped'] },
  { name: 'code-down', fault: { isRefused: true }, groups: ['xvs-critical XvsApiDown'] },
  { name: 'code-emptied-without-names', fault: { isEmpty: true }, groups: ['xvs-warning XvsTasksDropped'] },
  { name: 'all-emptied', fault: { isEmpty: true }, groups: ['xvs-critical XvsTasksVanished'] },
  { name: 'all-down', fault: { isRefused: true }, groups: ['xvs-critical XvsApiDown'] },
  { name: 'secret-rotated', fault: { ret: 401 }, groups: ['xvs-critical XvsApiDown'] },
  {
    name: 'clock-off',
    fault: { ret: 1001, clockOffsetMs: 600_000 },
    groups: ['xvs-critical XvsApiDown', 'xvs-warning XvsExporterClockOff'],
  },
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

test('each incident is one group of notifications, or a page and a warning, none ends before it, and none comes after', async (t) => {
  if (!hasLabPrograms(t) || !isInstalled(t, 'prlimit')) return;
  const service = await IncidentService.start(t);
  await using exporters = startExporters(service.url);
  await using lab = await startLab(t, exporters);
  const { receiver, alertmanager, prometheus } = lab;
  const isOf = (incident: string, { labels }: AlertNotification): boolean => {
    const { cluster = '', service_code: code = '' } = labels;
    return (cluster === CODES_CLUSTER ? code : cluster) === incident;
  };

  /** Lists the first firing notification of each group. */
  const listFirsts = (incident: string): readonly AlertNotification[] => {
    const own = receiver.notifications.filter(
      (notice) => notice.status === 'firing' && isOf(incident, notice),
    );
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
  await settle(lab);
  const early = receiver.notifications.filter(({ status }) => status === 'resolved');
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
      assert.deepEqual(
        early.filter((notice) => isOf(name, notice)).map(({ labels }) => labels),
        [],
        'resolved before the end',
      );
    });
  }
});
