import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { parse, stringify } from 'yaml';
import { listDeployYaml, readDeployFile } from '../../../test/support/deploy-files.ts';
import {
  ALL_SELECTED,
  readCommittedDashboards,
  interpolate,
  type Dashboard,
  type Variable,
} from '../../../test/support/grafana.ts';
import { startProgram, type Program } from '../../../test/support/program.ts';
import { requestPrometheusApi } from '../../../test/support/prometheus.ts';
import { Prometheus } from '../../../test/support/prometheus.ts';
import { startSimulatorProgram } from '../../../test/support/simulator-program.ts';
import { TemporaryFolder } from '../../../test/support/temporary-folder.ts';

/** A query, with its variables replaced as in Grafana. */
interface QueryContext {
  readonly url: string;
  readonly start: number;
  readonly end: number;
  readonly step: number;
  readonly values: Readonly<Record<string, string>>;
}

/** A dashboard with the responses to its queries. */
interface Recording {
  readonly dashboard: Dashboard;
  readonly start: number;
  readonly end: number;
  /** Seconds between two recorded values. */
  readonly step: number;
  /** Selected values by the labels of the variables. */
  readonly chosen: Readonly<Record<string, string>>;
  /** Responses by panel and refId. */
  readonly answers: Readonly<Record<string, unknown>>;
  readonly annotations: readonly unknown[];
}

/** New label sets are at 0 for 90 seconds. */
const WARM_UP_MS = 120_000;
/** As long as names of events get: pictures show what does not fit. */
const LONG_CODE = 'CHAMPIONSHIP_FINAL_MAIN_ARENA_2026';
const CODES = [
  'TESTING:abc:users=1200,tasks=90',
  'STADIUM:abc:users=500,tasks=40',
  `${LONG_CODE}:abc:users=60,tasks=12`,
];
/** Tasks that never end; TESTING and STADIUM expect them. */
const STREAMS = ['main', 'backup'];
const EXPECTED = [{ name: 'main', min_input_rate: '2Mbit/s', outputs: 3 }, { name: 'backup' }];

/** Variables that are not All on the pictures. */
const SELECTED_VARIABLES: Readonly<Record<string, Readonly<Record<string, string>>>> = {
  'xvs-service-code': { service_code: 'TESTING' },
  'xvs-task': { service_code: `${LONG_CODE}|STADIUM`, vs_id: 'aws-cn_north_1-8|aws-cn_east_2-1' },
};

/**
 * Runs a service with faults and an exporter for some minutes and records the queries of the dashboards: a
 * `Recording` as JSON for each uid. With `moreCodes`, polls and scrapes are rare, and no single task is
 * exposed.
 */
export async function record(minutes: number, moreCodes: number): Promise<ReadonlyMap<string, string>> {
  const codes = Array.from({ length: moreCodes }, (_, index) => `CODE_${index}`);
  const interval = moreCodes === 0 ? '1s' : '30s';
  // As for a data source with this `timeInterval`.
  const step = moreCodes === 0 ? 5 : 30;
  await using service = startSimulatorProgram(
    ...[...CODES, ...codes.map((code) => `${code}:abc:users=4,tasks=2`)].map(
      (code) => `--service-code=${code}`,
    ),
    ...STREAMS.map((name) => `--stream=${name}`),
  );
  const serviceUrl = await service.waitForUrl();
  using folder = new TemporaryFolder();
  const start = (name: string, port: string): Program =>
    startExporter({ serviceUrl, folder: folder.at(name), port, codes, interval });
  const first = start('first', '0');
  const port = await waitForPort(first);
  await using standby = start('standby', '0');
  const standbyPort = await waitForPort(standby);
  const targets = [`127.0.0.1:${port}`, `127.0.0.1:${standbyPort}`];
  await using prometheus = await Prometheus.start({
    interval,
    jobs: [{ job_name: 'xvs-exporter', scrape_timeout: interval, static_configs: [{ targets }] }],
    rules: listDeployYaml('prometheus/rules').map((file): unknown => parse(readDeployFile(file))),
  });
  await delay(WARM_UP_MS);
  await using restarted = await runScenario(
    { serviceUrl, first, standby, restart: () => start('first', port) },
    minutes * 60,
  );
  await waitForPort(restarted);
  const end = Math.floor(Date.now() / 1000 / step) * step;
  const named = [...readCommittedDashboards().values()].map(async (dashboard): Promise<[string, string]> => {
    const uid = dashboard.uid ?? '';
    const recording = await recordDashboard(dashboard, {
      url: prometheus.url,
      start: end - minutes * 60 + 30,
      end,
      step,
      values: {
        ...ALL_SELECTED,
        ...SELECTED_VARIABLES[uid],
        __range: '7m',
        __interval: `${step}s`,
        __rate_interval: `${4 * step}s`,
      },
    });
    // The ports differ in each run.
    const text = JSON.stringify(recording)
      .replaceAll(`127.0.0.1:${port}`, 'exporter:20928')
      .replaceAll(`127.0.0.1:${standbyPort}`, 'standby:20928');
    return [uid, text];
  });
  return new Map(await Promise.all(named));
}

interface Scene {
  readonly serviceUrl: string;
  readonly first: Program;
  readonly standby: Program;
  readonly restart: () => Program;
}

/**
 * Restarts the exporter during the recording, and stops another one. At the end, a service code and its
 * expected streams are down for long enough that alerts fire. Returns the exporter that still runs.
 */
async function runScenario(
  { serviceUrl, first, standby, restart }: Scene,
  seconds: number,
): Promise<Program> {
  const wait = (share: number): Promise<void> => delay(share * seconds * 1000);
  const fault = (body: Readonly<Record<string, unknown>>): Promise<Response> =>
    fetch(`${serviceUrl}/-/faults`, { method: 'PUT', body: JSON.stringify(body) });
  const mend = (serviceCode: string): Promise<Response> =>
    fetch(`${serviceUrl}/-/faults?service_code=${serviceCode}`, { method: 'DELETE' });
  await wait(0.2);
  await fault({ fault: 'http_status', status: 503, retryAfter: '3', serviceCode: 'STADIUM' });
  await wait(0.08);
  await mend('STADIUM');
  await fault({ fault: 'bad_record', every: 60, serviceCode: 'TESTING' });
  await wait(0.07);
  await mend('TESTING');
  await first[Symbol.asyncDispose]();
  const second = restart();
  await wait(0.2);
  await fault({ fault: 'ret', value: 1001, serviceCode: LONG_CODE });
  await standby[Symbol.asyncDispose]();
  await wait(0.1);
  await fault({ fault: 'freeze_ingest', serviceCode: 'STADIUM' });
  await wait(0.35);
  return second;
}

interface ExporterOptions {
  readonly serviceUrl: string;
  readonly folder: string;
  readonly port: string;
  readonly codes: readonly string[];
  readonly interval: string;
}

function startExporter({ serviceUrl, folder, port, codes, interval }: ExporterOptions): Program {
  mkdirSync(folder, { recursive: true });
  const configuration = join(folder, 'exporter.yml');
  const expect = { names: EXPECTED };
  const serviceCodes = [
    { service_code: 'TESTING', expect },
    { service_code: 'STADIUM', expect },
    ...[LONG_CODE, ...codes].map((code) => ({ service_code: code })),
  ];
  writeFileSync(configuration, stringify({ service_codes: serviceCodes, tasks: { name: 'opaque.room' } }));
  return startProgram(
    [
      `--config.file=${configuration}`,
      `--web.listen-address=127.0.0.1:${port}`,
      `--state.path=${join(folder, 'state')}`,
      `--poll.interval=${interval}`,
      '--poll.stall-after=20s',
      `--metrics.per-task=${codes.length === 0}`,
    ],
    { XVS_UPSTREAM_BASE_URL: serviceUrl, XVS_SECRET: 'abc' },
  );
}

function waitForPort(program: Program): Promise<string> {
  return program.waitForOutput(/"port":(\d+),"msg":"Listening"/);
}

async function recordDashboard(dashboard: Dashboard, question: QueryContext): Promise<Recording> {
  const answers = await Promise.all(
    dashboard.panels.flatMap((panel) =>
      panel.targets.map(async ({ refId, expr, instant }): Promise<[string, unknown]> => [
        `${panel.id} ${refId}`,
        await (instant === true ? queryInstant(expr, question) : queryRange(expr, question)),
      ]),
    ),
  );
  const marks = dashboard.annotations.list.filter(
    ({ enable, expr }) => enable !== false && expr !== undefined,
  );
  const annotations = await Promise.all(
    marks.map(async (annotation) => ({
      ...annotation,
      answer: await queryRange(annotation.expr ?? '', question),
    })),
  );
  return {
    dashboard,
    start: question.start,
    end: question.end,
    step: question.step,
    chosen: formatSelection(dashboard, question.values),
    answers: Object.fromEntries(answers),
    annotations,
  };
}

function isVisible({ hide = 0 }: Variable): boolean {
  return hide === 0;
}

function formatSelection(
  { templating }: Dashboard,
  values: QueryContext['values'],
): Readonly<Record<string, string>> {
  return Object.fromEntries(
    templating.list.filter(isVisible).map(({ name, label = name, type }) => {
      const value = values[name] ?? '';
      const text = type === 'datasource' ? 'Prometheus' : value.replaceAll('|', ' + ');
      return [label, value === '.+' || name === 'job' ? 'All' : text];
    }),
  );
}

function queryRange(expr: string, { url, start, end, step, values }: QueryContext): Promise<unknown> {
  return requestPrometheusApi(url, 'query_range', {
    query: interpolate(expr, values),
    start,
    end,
    step,
  });
}

function queryInstant(expr: string, { url, end, values }: QueryContext): Promise<unknown> {
  return requestPrometheusApi(url, 'query', { query: interpolate(expr, values), time: end });
}
