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
  /** More options of the command line. */
  readonly flags?: readonly string[];
}

/** A real Prometheus on the loopback interface. */
export class Prometheus implements AsyncDisposable {
  readonly #folder = new TemporaryFolder();
  readonly #command: string;
  readonly #args: readonly string[];
  #program: Program;
  #url = '';

  private constructor(options: PrometheusOptions) {
    const { command = 'prometheus', flags = [] } = options;
    const config = this.#folder.at('prometheus.yml');
    writeFileSync(config, JSON.stringify(configure(options, this.#folder)));
    this.#command = command;
    this.#args = [
      `--config.file=${config}`,
      `--storage.tsdb.path=${this.#folder.at('data')}`,
      '--web.listen-address=127.0.0.1:0',
      ...flags,
    ];
    this.#program = new Program(this.#command, this.#args);
  }

  static async start(options: PrometheusOptions): Promise<Prometheus> {
    const prometheus = new Prometheus(options);
    await prometheus.#waitUntilReady();
    return prometheus;
  }

  /** Ends the process and starts another one with its data, on another port. */
  async restart(): Promise<void> {
    await this.#program[Symbol.asyncDispose]();
    this.#program = new Program(this.#command, this.#args);
    await this.#waitUntilReady();
  }

  async #waitUntilReady(): Promise<void> {
    const address = await this.#program.waitForOutput(/msg="Listening on" .*\baddress=(\S+)/);
    await this.#program.waitForOutput(/Server is ready to receive web requests/);
    this.#url = `http://${address}`;
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

/** Returns the content of the configuration file, and writes the files of rules. */
function configure(
  {
    interval = '1s',
    targets = [],
    jobs = [{ job_name: 'xvs-exporter', static_configs: [{ targets }] }],
    rules = [],
    alertmanager,
  }: PrometheusOptions,
  folder: TemporaryFolder,
): object {
  const alertmanagers = alertmanager === undefined ? [] : [{ static_configs: [{ targets: [alertmanager] }] }];
  return {
    global: { scrape_interval: interval, scrape_timeout: '1s', evaluation_interval: interval },
    scrape_configs: jobs,
    rule_files: rules.map((content, index) => {
      const file = folder.at(`rules-${index}.yml`);
      writeFileSync(file, JSON.stringify(content));
      return file;
    }),
    alerting: { alertmanagers },
  };
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
