import { writeFileSync } from 'node:fs';
import { z } from 'zod';
import { Program } from './program.ts';
import { TemporaryFolder } from './temporary-folder.ts';
import { waitUntil } from './wait-until.ts';

const createResponseSchema = <T extends z.ZodType>(data: T) =>
  z.object({ status: z.literal('success'), data });
const valueSchema = z.tuple([z.number(), z.string()]);
const annotatedResponseSchema = z.object({
  warnings: z.array(z.string()).default([]),
  infos: z.array(z.string()).default([]),
});

const instantResponseSchema = createResponseSchema(
  z.object({ result: z.array(z.object({ metric: z.record(z.string(), z.string()), value: valueSchema })) }),
);
const rangeResponseSchema = createResponseSchema(
  z.object({ result: z.array(z.object({ values: z.array(valueSchema) })) }),
);

/** A range of time in seconds since the Unix epoch. */
interface TimeRange {
  readonly start: number;
  readonly end: number;
}

/** A series in the result of an instant query. */
export interface QueriedSeries {
  readonly metric: Readonly<Record<string, string>>;
  readonly value: number;
}

/** What a Prometheus scrapes and evaluates. */
interface PrometheusOptions {
  /** Of scrapes and evaluations; by default a second. */
  readonly interval?: string;
  /** Addresses of the job `xvs-exporter`. */
  readonly targets?: readonly string[];
  /** Scrape jobs instead of that one. */
  readonly jobs?: readonly object[];
  /** Rules in the form of rule files. */
  readonly rules?: readonly unknown[];
  /** Host and port of the Alertmanager to notify. */
  readonly alertmanager?: string;
  readonly command?: string;
}

/** A real Prometheus on the loopback interface. */
export class Prometheus implements AsyncDisposable {
  readonly #program: Program;
  readonly #folder: TemporaryFolder;
  readonly #url: string;

  private constructor(program: Program, folder: TemporaryFolder, url: string) {
    this.#program = program;
    this.#folder = folder;
    this.#url = url;
  }

  static async start({
    interval = '1s',
    targets = [],
    jobs = [{ job_name: 'xvs-exporter', static_configs: [{ targets }] }],
    rules = [],
    alertmanager,
    command = 'prometheus',
  }: PrometheusOptions): Promise<Prometheus> {
    const folder = new TemporaryFolder();
    const alertmanagers =
      alertmanager === undefined ? [] : [{ static_configs: [{ targets: [alertmanager] }] }];
    const config = folder.at('prometheus.yml');
    writeFileSync(
      config,
      JSON.stringify({
        global: { scrape_interval: interval, scrape_timeout: '1s', evaluation_interval: interval },
        scrape_configs: jobs,
        rule_files: rules.map((content, index) => {
          const file = folder.at(`rules-${index}.yml`);
          writeFileSync(file, JSON.stringify(content));
          return file;
        }),
        alerting: { alertmanagers },
      }),
    );
    const program = new Program(command, [
      `--config.file=${config}`,
      `--storage.tsdb.path=${folder.at('data')}`,
      '--web.listen-address=127.0.0.1:0',
    ]);
    const address = await program.waitForOutput(/msg="Listening on" .*\baddress=(\S+)/);
    await program.waitForOutput(/Server is ready to receive web requests/);
    return new Prometheus(program, folder, `http://${address}`);
  }

  get url(): string {
    return this.#url;
  }

  /** Runs an instant query, at `time` in seconds since the Unix epoch or now. */
  async query(expression: string, time?: number): Promise<readonly QueriedSeries[]> {
    const parameters = { query: expression, ...(time !== undefined && { time }) };
    const { data } = instantResponseSchema.parse(await requestPrometheusApi(this.#url, 'query', parameters));
    return data.result.map(({ metric, value: [, value] }) => ({ metric, value: Number(value) }));
  }

  /** Lists the warnings and infos of an expression, such as that its metric is not a counter. */
  async listAnnotations(expression: string): Promise<readonly string[]> {
    const response = await requestPrometheusApi(this.#url, 'query', { query: expression });
    const { warnings, infos } = annotatedResponseSchema.parse(response);
    return [...warnings, ...infos];
  }

  /** Runs a range query in steps of a second, and returns the values of all its series, without NaN. */
  async queryRange(expression: string, range: TimeRange): Promise<readonly number[]> {
    const parameters = { query: expression, ...range, step: 1 };
    const response = await requestPrometheusApi(this.#url, 'query_range', parameters);
    const { data } = rangeResponseSchema.parse(response);
    const values = data.result.flatMap((series) => series.values.map(([, value]) => Number(value)));
    return values.filter((value) => !Number.isNaN(value));
  }

  /** Returns the value of the first series of a query; `undefined` if there is none. */
  async value(expression: string): Promise<number | undefined> {
    const [series] = await this.query(expression);
    return series?.value;
  }

  /** Like {@link waitUntil}. */
  waitUntil<T>(ask: () => Promise<T>, isWanted: (answer: T) => boolean): Promise<T> {
    return waitUntil(ask, isWanted);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#program[Symbol.asyncDispose]();
    this.#folder[Symbol.dispose]();
  }
}

/** Requests a path of the API of a Prometheus. Rejects with its response if that is an error. */
export async function requestPrometheusApi(
  url: string,
  path: string,
  parameters: Readonly<Record<string, string | number>>,
): Promise<unknown> {
  const search = new URLSearchParams(
    Object.entries(parameters).map(([name, value]): [string, string] => [name, String(value)]),
  );
  const response = await fetch(`${url}/api/v1/${path}?${search.toString()}`);
  const body: unknown = await response.json();
  if (!response.ok) throw new Error(`Prometheus rejected ${search.get('query')}: ${JSON.stringify(body)}`);
  return body;
}
