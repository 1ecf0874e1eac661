import { setTimeout as delay } from 'node:timers/promises';
import { committedDashboards, interpolate, type Dashboard } from '../../../test/support/grafana.ts';
import { xvsExporter, type Program } from '../../../test/support/program.ts';
import { askPrometheus } from '../../../test/support/prometheus-answers.ts';
import { Prometheus } from '../../../test/support/prometheus.ts';

/** What is asked of Prometheus, and how Grafana would put the variables. */
interface Question {
  readonly url: string;
  readonly start: number;
  readonly end: number;
  readonly values: Readonly<Record<string, string>>;
}

/** A dashboard with all that Prometheus had to say to it. */
interface Recording {
  readonly dashboard: Dashboard;
  readonly start: number;
  readonly end: number;
  /** What is chosen at the top, by the labels of the variables. */
  readonly chosen: Readonly<Record<string, string>>;
  /** Answers of Prometheus by panel and refId. */
  readonly answers: Readonly<Record<string, unknown>>;
  readonly annotations: readonly unknown[];
}

const CODES = [
  'TESTING:abc:users=1200,tasks=90',
  'STADIUM:abc:users=500,tasks=40',
  'ARENA:abc:users=60,tasks=12',
];
/** As for a data source with `timeInterval: 5s`. */
const STEP = 5;

/** What is chosen on the pictures, where it is not All. */
const CHOSEN: Readonly<Record<string, Readonly<Record<string, string>>>> = {
  'xvs-service-code': { service_code: 'TESTING' },
  'xvs-clients': { service_code: 'TESTING' },
  'xvs-task': { service_code: 'ARENA|STADIUM', vs_id: 'aws-cn_north_1-8|aws-cn_east_2-1' },
};

/**
 * Lets a service, with its troubles, and an exporter run for some minutes, and records what the dashboards ask: a
 * `Recording` as JSON for each uid.
 */
export async function record(minutes: number): Promise<ReadonlyMap<string, string>> {
  await using service = xvsExporter([
    'simulate',
    '--listen-address=127.0.0.1:0',
    '--control',
    ...CODES.map((code) => `--service-code=${code}`),
  ]);
  const serviceUrl = await service.printed(/ on (http:\S+)/);
  const first = exporter(serviceUrl, '0');
  const port = await portOf(first);
  await using prometheus = await Prometheus.scraping(`127.0.0.1:${port}`);
  await using restarted = await live(serviceUrl, first, port, minutes * 60);
  await portOf(restarted);
  const end = Math.floor(Date.now() / 1000 / STEP) * STEP;
  const start = end - minutes * 60 + 30;
  const named = [...committedDashboards().values()].map(async (dashboard): Promise<[string, string]> => {
    const uid = dashboard.uid ?? '';
    const recording = await ask(dashboard, { url: prometheus.url, start, end, values: valuesOf(uid) });
    // The port is another in each run.
    return [uid, JSON.stringify(recording).replaceAll(`127.0.0.1:${port}`, 'exporter:20928')];
  });
  return new Map(await Promise.all(named));
}

/** The exporter is started anew on the way; the new one is given back. */
async function live(serviceUrl: string, first: Program, port: string, seconds: number): Promise<Program> {
  const wait = (share: number): Promise<void> => delay(share * seconds * 1000);
  const fault = (body: Readonly<Record<string, unknown>>): Promise<Response> =>
    fetch(`${serviceUrl}/-/faults`, { method: 'PUT', body: JSON.stringify(body) });
  const mend = (serviceCode: string): Promise<Response> =>
    fetch(`${serviceUrl}/-/faults?service_code=${serviceCode}`, { method: 'DELETE' });
  await wait(0.3);
  await fault({ fault: 'http_status', status: 503, retryAfter: '3', serviceCode: 'STADIUM' });
  await wait(0.08);
  await mend('STADIUM');
  await fault({ fault: 'bad_record', every: 60, serviceCode: 'TESTING' });
  await wait(0.07);
  await mend('TESTING');
  await first[Symbol.asyncDispose]();
  const second = exporter(serviceUrl, port);
  await wait(0.2);
  await fault({ fault: 'freeze_ingest', serviceCode: 'STADIUM' });
  await wait(0.15);
  await mend('STADIUM');
  await wait(0.12);
  await fault({ fault: 'ret', value: 1001, serviceCode: 'ARENA' });
  await wait(0.08);
  return second;
}

function exporter(serviceUrl: string, port: string): Program {
  return xvsExporter(
    [
      `--web.listen-address=127.0.0.1:${port}`,
      '--poll.interval=1s',
      '--poll.stall-after=20s',
      '--metrics.per-task=true',
    ],
    { XVS_UPSTREAM_BASE_URL: serviceUrl, XVS_SERVICE_CODES: 'TESTING,STADIUM,ARENA', XVS_SECRET: 'abc' },
  );
}

function portOf(program: Program): Promise<string> {
  return program.printed(/"port":(\d+),"msg":"Listening"/);
}

function valuesOf(uid: string): Readonly<Record<string, string>> {
  const all = { job: 'xvs-exporter', instance: '.+', service_code: '.+', vs_id: '.+', task_id: '.+' };
  return { ...all, ...CHOSEN[uid], __rate_interval: `${4 * STEP}s` };
}

async function ask(dashboard: Dashboard, question: Question): Promise<Recording> {
  const answers = await Promise.all(
    dashboard.panels.flatMap((panel) =>
      panel.targets.map(async ({ refId, expr, instant }): Promise<[string, unknown]> => [
        `${panel.id} ${refId}`,
        await (instant === true ? at(expr, question) : over(expr, question)),
      ]),
    ),
  );
  const marks = dashboard.annotations.list.filter(({ expr }) => expr !== undefined);
  const annotations = await Promise.all(
    marks.map(async (annotation) => ({ ...annotation, answer: await over(annotation.expr ?? '', question) })),
  );
  return {
    dashboard,
    start: question.start,
    end: question.end,
    chosen: chosenOf(dashboard, question.values),
    answers: Object.fromEntries(answers),
    annotations,
  };
}

function chosenOf({ templating }: Dashboard, values: Question['values']): Readonly<Record<string, string>> {
  return Object.fromEntries(
    templating.list.map(({ name, label = name, type }) => {
      const value = values[name] ?? '';
      const text = type === 'datasource' ? 'Prometheus' : value.replaceAll('|', ' + ');
      return [label, value === '.+' || name === 'job' ? 'All' : text];
    }),
  );
}

function over(expr: string, { url, start, end, values }: Question): Promise<unknown> {
  return askPrometheus(url, 'query_range', { query: interpolate(expr, values), start, end, step: STEP });
}

function at(expr: string, { url, end, values }: Question): Promise<unknown> {
  return askPrometheus(url, 'query', { query: interpolate(expr, values), time: end });
}
