/** Runs an unchanged block of commands in a copy of the repository and a separate network namespace. */
interface CommandRun {
  /** The folder that the page names; by default the root of the repository. */
  readonly folder?: string;
  /** Commands that run before the block. */
  readonly before?: string;
  /** The test kills a block when its output matches. Without a pattern, the block must exit with 0. */
  readonly until?: RegExp;
  /** Commands that check the result. */
  readonly after?: string;
  /** Programs that not every machine has. */
  readonly needs?: readonly string[];
}

/** The reason why a block is not run. */
type SkipReason = string;

/** Retries a command for 30 s. After that, the next command fails. */
const retryUntilSuccess = (command: string): string =>
  `for _ in {1..300}; do ${command} >/dev/null && break; sleep 0.1; done`;

const DEMO = `node dist/main.js demo --web.listen-address=127.0.0.1:0 &
${retryUntilSuccess('curl --silent http://localhost:20140/-/faults')}`;

/** The demo at the address in the README. */
const RUNNING_DEMO = `node dist/main.js demo &
${retryUntilSuccess('curl --fail --silent http://localhost:20928/-/ready')}`;

const MAIN_IS_DOWN = `curl --silent http://localhost:20928/metrics | grep --fixed-strings 'task_name="main"} 0'`;

/** The simulator, and the secret and configuration file that the README describes. */
const CONFIGURED = `npm run --silent build && node dist/main.js simulate --service-code=TESTING:abc --users=20 &
mount -t tmpfs none /run && mkdir /run/secrets && printf abc > /run/secrets/testing
printf 'upstream:\\n  base_url: http://127.0.0.1:20140\\nservice_codes:\\n  - service_code: TESTING\\n    secret_file: /run/secrets/testing\\n' > config.yml
${retryUntilSuccess('curl --silent http://127.0.0.1:20140/')}`;

/** Storage of Prometheus in memory, so that no file remains on the machine. */
const STORAGE = 'mkdir -p /tmp/xvs-prometheus && mount -t tmpfs none /tmp/xvs-prometheus';

/** Each block of commands of each page, by the page and its first line. */
export const COMMAND_RUNS: ReadonlyMap<string, CommandRun | SkipReason> = new Map<
  string,
  CommandRun | SkipReason
>([
  ['README.md: npm run demo', { until: /Press Ctrl-C to stop both/ }],
  [
    'README.md: curl -X PUT http://127.0.0.1:20140/-/faults -d \'{"fault":"freeze_ingest","name":"main"}\'',
    {
      before: RUNNING_DEMO,
      after: [retryUntilSuccess(MAIN_IS_DOWN), retryUntilSuccess(MAIN_IS_DOWN), MAIN_IS_DOWN].join('\n'),
    },
  ],
  ['README.md: npm test', 'it runs this test'],
  [
    'README.md: prometheus --config.file=deploy/prometheus/prometheus.yml --storage.tsdb.path=/tmp/xvs-prometheus --web.listen-address=:9190',
    { before: STORAGE, until: /Server is ready to receive web requests/, needs: ['prometheus'] },
  ],
  ['README.md: npm run setup && npm run build', { before: CONFIGURED, until: /Listening/ }],
  [
    'deploy/README.md: docker build --build-arg VERSION=0.1.0 --build-arg REVISION="$(git rev-parse HEAD)" -t xvs-exporter:0.1.0 .',
    'no container engine; npm run test:image builds and runs the image',
  ],
  [
    'deploy/alertmanager/README.md: amtool check-config alertmanager.yml',
    { folder: 'deploy/alertmanager', needs: ['amtool'] },
  ],
  ['deploy/compose/README.md: docker compose up --detach --wait', 'no container engine'],
  [
    'deploy/compose/README.md: curl -X PUT http://localhost:20140/-/faults -d \'{"fault":"ret","value":1001}\'',
    {
      before: DEMO,
      after: `curl --silent http://localhost:20140/-/faults | grep --fixed-strings '"faults":[]'`,
    },
  ],
  ['deploy/grafana/README.md: docker run -p 3000:3000 \\', 'no container engine'],
  [
    'deploy/grafana/README.md: UPDATE_GOLDEN=1 npm test -- deploy/grafana',
    'npm test compares the files that it would write',
  ],
  [
    'deploy/grafana/README.md: npm run build && npx tsc -p tsconfig.json && node deploy/grafana/pictures/make.mjs',
    "it downloads Grafana's components, 440 MB of them, and needs a browser",
  ],
  [
    'deploy/helm/xvs-exporter/README.md: kubectl create namespace live',
    'no cluster; the chart is rendered and checked',
  ],
  [
    'deploy/kubernetes/README.md: kubectl create namespace live',
    'no cluster; the overlays are rendered and checked',
  ],
  [
    "deploy/prometheus/README.md: sed -i -E 's#job(=\"|: | )xvs-exporter#job\\1live-video#g' rules/*.yml tests/*.yml",
    {
      folder: 'deploy/prometheus',
      after:
        "promtool check rules rules/*.yml && ! grep --extended-regexp 'job(=\"|: | )xvs-exporter' rules/*.yml",
      needs: ['promtool'],
    },
  ],
  [
    "deploy/prometheus/README.md: sed -i -E 's#runbook_url: [^ ]*/#runbook_url: https://wiki.example.net/alerts/#; s#dashboard_url: https?://[^/]*#dashboard_url: https://grafana.example.net#' rules/*.yml tests/*.yml",
    {
      folder: 'deploy/prometheus',
      after: "promtool check rules rules/*.yml && ! grep 'example\\.com' rules/*.yml",
      needs: ['promtool'],
    },
  ],
  [
    'deploy/prometheus/README.md: promtool check rules --lint=all --lint-fatal rules/*.yml',
    // One file of tests: test/deploy/prometheus/promtool runs all of them.
    {
      before: 'find deploy/prometheus/tests -name "*.yml" ! -name hours.yml -delete',
      folder: 'deploy/prometheus',
      needs: ['promtool'],
    },
  ],
  [
    'deploy/systemd/README.md: npm ci && npm run build && npm prune --omit=dev',
    'it writes to /opt and /etc of the machine; the unit and its settings are checked by test/deploy/systemd',
  ],
  ['deploy/systemd/README.md: sudo systemctl daemon-reload', 'it would start a service of the machine'],
  ['CONTRIBUTING.md: npm run project', { after: 'node scripts/apply-project.mjs --check' }],
  ['CONTRIBUTING.md: version=0.1.0', 'there is no release to verify'],
  [
    'docs/service-codes.md: curl --fail --silent --show-error http://localhost:20928/sd',
    {
      before: RUNNING_DEMO,
      after: `curl --silent http://localhost:20928/sd | grep --fixed-strings '"__param_service_code":"TESTING"'`,
    },
  ],
  [
    'docs/service-codes.md: promtool check service-discovery --timeout=5s deploy/prometheus/prometheus-sd.yml xvs-exporter',
    {
      before: RUNNING_DEMO,
      after:
        'promtool check service-discovery --timeout=5s deploy/prometheus/prometheus-sd.yml xvs-exporter | grep \'"instance": "localhost:20928"\'',
      needs: ['promtool'],
    },
  ],
  [
    'docs/service-codes.md: prometheus --config.file=deploy/prometheus/prometheus-sd.yml --storage.tsdb.path=/tmp/xvs-prometheus',
    { before: STORAGE, until: /Server is ready to receive web requests/, needs: ['prometheus'] },
  ],
  ['CONTRIBUTING.md: npm run check', 'it is run beside the tests, and looks at no copy'],
  ['CONTRIBUTING.md: npm test', 'it runs this test'],
  ['CONTRIBUTING.md: XVS_TEST_SEED=random npm test -- fuzz', 'it takes minutes and its inputs are random'],
  [
    'CONTRIBUTING.md: UPDATE_GOLDEN=1 npm test -- config metrics',
    'npm test compares the files that it would write',
  ],
  ['CONTRIBUTING.md: npm run bench', 'for six minutes, on a machine that does nothing else'],
  [
    'docs/performance.md: npm run --silent bench -- --json > test/bench/results.json',
    'for six minutes, on a machine that does nothing else',
  ],
  ['CONTRIBUTING.md: npm pack --ignore-scripts=false', { after: 'test -s xvs-exporter-*.tgz' }],
]);
