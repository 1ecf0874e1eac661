import type { TestContext } from 'node:test';
import { ALERTMANAGER, Alertmanager } from '../../support/alertmanager.ts';
import { deployPath, readDeployFile, readRuleGroups } from '../../support/deploy-files.ts';
import { isInstalled } from '../../support/installed-programs.ts';
import { startProgram, type Program } from '../../support/program.ts';
import { Prometheus } from '../../support/prometheus.ts';
import { repositoryPath } from '../../support/repository.ts';
import { scaleDurations } from '../../support/scale-durations.ts';
import { TemporaryFolder } from '../../support/temporary-folder.ts';
import { startWebhookReceiver } from '../../support/webhook-receiver.ts';

/** Durations in rules and routes are divided by this: a minute becomes three seconds. */
const TIME_DIVISOR = 20;
/** Longer than a new label set of a counter is at 0. */
const WARM_UP_SECONDS = 100;
/**
 * A minute, scaled, as the README of the rules has it, and somewhat more than a minute for the start of
 * Prometheus, which does not scale: an alert resolves four times as long after Prometheus stopped sending it.
 */
const FLAGS = ['--rules.alert.for-grace-period=3s', '--rules.alert.resend-delay=4s'];
/** Longer than an alert takes to resolve that Prometheus no longer sends, and to begin. */
const SETTLE_SECONDS = 30;

/** An exporter with service codes in a file that it watches, which keeps its port when it restarts. */
export class Exporter implements AsyncDisposable {
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

  /**
   * Writes the file of service codes with settings for each code, and expects streams of those that are named
   * for it.
   */
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

/** Exporters by cluster. */
export class Clusters extends Map<string, readonly Exporter[]> implements AsyncDisposable {
  list(): readonly Exporter[] {
    return [...this.values()].flat();
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await Promise.all(this.list().map((exporter) => exporter[Symbol.asyncDispose]()));
  }
}

/** Exporters, a Prometheus with the shipped rules, and an Alertmanager with the shipped routes and texts. */
export interface Lab {
  readonly receiver: Awaited<ReturnType<typeof startWebhookReceiver>>;
  readonly alertmanager: Alertmanager;
  readonly prometheus: Prometheus;
}

/** Tells whether the programs of a lab are installed. */
export function hasLabPrograms(t: TestContext): boolean {
  return isInstalled(t, 'prometheus') && isInstalled(t, ALERTMANAGER);
}

/**
 * The shipped routes, whose receivers are the examples of the file, with a loopback address, and repeat
 * nothing for now.
 */
function configureAlertmanager(url: string): unknown {
  const routes = readDeployFile('alertmanager/alertmanager.yml');
  const [, examples = ''] = /for example\n#\n([^]*?)\n#\n/.exec(routes) ?? [];
  const receivers = examples
    .replaceAll(/^# {3}/gm, '    ')
    .replace('routing_key: …', `routing_key: abc\n        url: ${url}/pagerduty`)
    .replace('api_url_file: /etc/alertmanager/secrets/slack-url', `api_url: ${url}/slack`)
    .replace('url: …', `url: ${url}/webhook`)
    .replace(/^.*http_config.*$/m, '');
  const yaml = routes
    .replaceAll(/^ {4}webhook_configs:\n.*$/gm, receivers)
    .replaceAll(/repeat_interval: .+/g, 'repeat_interval: 20h')
    .replace('templates/*.tmpl', deployPath('alertmanager/templates/*.tmpl'));
  return scaleDurations(yaml, TIME_DIVISOR);
}

/** Starts the programs, and waits until all counters of the exporters have begun. */
export async function startLab(t: TestContext, exporters: Clusters): Promise<Lab & AsyncDisposable> {
  for (const exporter of exporters.list()) await exporter.waitUntilListening();
  const receiver = await startWebhookReceiver(t);
  const alertmanager = await Alertmanager.start(configureAlertmanager(receiver.url));
  const jobs = [
    {
      job_name: 'xvs-exporter',
      static_configs: [...exporters].map(([cluster, members]) => ({
        targets: members.map(({ address }) => address),
        labels: { cluster },
      })),
    },
  ];
  const prometheus = await Prometheus.start({
    jobs,
    rules: [scaleDurations(JSON.stringify({ groups: readRuleGroups() }), TIME_DIVISOR)],
    alertmanager: alertmanager.address,
    flags: FLAGS,
  });
  await prometheus.waitUntil(
    () => prometheus.value('min(xvs_exporter_time_seconds - process_start_time_seconds)'),
    (seconds = 0) => seconds > WARM_UP_SECONDS,
  );
  return {
    receiver,
    alertmanager,
    prometheus,
    async [Symbol.asyncDispose]() {
      await prometheus[Symbol.asyncDispose]();
      await alertmanager[Symbol.asyncDispose]();
    },
  };
}

/**
 * Waits until Prometheus has seen enough of the clock of the exporters for alerts to begin, or to resolve.
 */
export async function settle({ prometheus }: Lab, seconds = SETTLE_SECONDS): Promise<void> {
  const readClock = () => prometheus.value('max(xvs_exporter_time_seconds)');
  const before = await prometheus.waitUntil(readClock, (clock) => clock !== undefined);
  await prometheus.waitUntil(readClock, (clock = 0) => clock > (before ?? 0) + seconds);
}
