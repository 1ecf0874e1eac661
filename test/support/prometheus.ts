import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:net';
import { once } from 'node:events';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { z } from 'zod';
import { Program } from './program.ts';
import { until } from './until.ts';

const answer = z.object({
  status: z.literal('success'),
  data: z.object({
    result: z.array(
      z.object({ metric: z.record(z.string(), z.string()), value: z.tuple([z.number(), z.string()]) }),
    ),
  }),
});

/** A series of an instant query's answer. */
export interface QueriedSeries {
  readonly metric: Readonly<Record<string, string>>;
  readonly value: number;
}

/** The rules that a Prometheus evaluates, as rule files hold them, and the Alertmanager (host and port) that it tells. */
interface Alerting {
  readonly rules: readonly unknown[];
  readonly alertmanager: string;
}

/** A real Prometheus that scrapes its targets every second, on the loopback interface, in a folder of its own. */
export class Prometheus implements AsyncDisposable {
  readonly #program: Program;
  readonly #folder: string;
  readonly #url: string;

  private constructor(program: Program, folder: string, url: string) {
    this.#program = program;
    this.#folder = folder;
    this.#url = url;
  }

  static scraping(...targets: readonly string[]): Promise<Prometheus> {
    return Prometheus.#running(targets, () => ({}));
  }

  /** One with scrape jobs as its configuration writes them, and rules as rule files hold them. */
  static withJobs(jobs: readonly object[], rules: readonly unknown[] = []): Promise<Prometheus> {
    return Prometheus.#running([], (folder) => ({
      scrape_configs: jobs,
      rule_files: writeRules(folder, rules),
    }));
  }

  /** One that evaluates rules every second, too. */
  static alerting(target: string, alerting: Alerting): Promise<Prometheus> {
    return Prometheus.#running([target], (folder) => alertingConfig(folder, alerting));
  }

  static async #running(
    targets: readonly string[],
    moreConfig: (folder: string) => object,
  ): Promise<Prometheus> {
    const folder = mkdtempSync(join(tmpdir(), 'xvs-prometheus-'));
    const config = join(folder, 'prometheus.yml');
    writeFileSync(
      config,
      JSON.stringify({
        global: { scrape_interval: '1s', scrape_timeout: '1s', evaluation_interval: '1s' },
        scrape_configs: [{ job_name: 'xvs-exporter', static_configs: [{ targets }] }],
        ...moreConfig(folder),
      }),
    );
    const address = `127.0.0.1:${await freePort()}`;
    const program = new Program('prometheus', [
      `--config.file=${config}`,
      `--storage.tsdb.path=${join(folder, 'data')}`,
      `--web.listen-address=${address}`,
    ]);
    await program.printed(/Server is ready to receive web requests/);
    return new Prometheus(program, folder, `http://${address}`);
  }

  /** Where its API is. */
  get url(): string {
    return this.#url;
  }

  /** An instant query. */
  async query(expression: string): Promise<readonly QueriedSeries[]> {
    const response = await fetch(`${this.#url}/api/v1/query?query=${encodeURIComponent(expression)}`);
    const { data } = answer.parse(await response.json());
    return data.result.map(({ metric, value: [, value] }) => ({ metric, value: Number(value) }));
  }

  /** The value of a query with one series as its answer, `undefined` where it has none. */
  async value(expression: string): Promise<number | undefined> {
    const [series] = await this.query(expression);
    return series?.value;
  }

  /** Asks until the answer is as wanted; fails with the last one after `timeoutMs`. */
  until<T>(ask: () => Promise<T>, isWanted: (answer: T) => boolean, timeoutMs = 60_000): Promise<T> {
    return until(ask, isWanted, timeoutMs);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#program[Symbol.asyncDispose]();
    rmSync(this.#folder, { recursive: true });
  }
}

/** Names the rules and the Alertmanager. */
function alertingConfig(folder: string, { rules, alertmanager }: Alerting) {
  const targets = [alertmanager];
  return {
    rule_files: writeRules(folder, rules),
    alerting: { alertmanagers: [{ static_configs: [{ targets }] }] },
  };
}

/** Writes rules into files of their own, and names these. */
function writeRules(folder: string, rules: readonly unknown[]): readonly string[] {
  return rules.map((content, index) => {
    const file = join(folder, `rules-${index}.yml`);
    writeFileSync(file, JSON.stringify(content));
    return file;
  });
}

/** Prometheus takes no port 0: one that was free a moment ago has to do. */
async function freePort(): Promise<number> {
  const server = createServer().listen(0, '127.0.0.1');
  await once(server, 'listening');
  const address = server.address();
  server.close();
  await once(server, 'close');
  if (address === null || typeof address === 'string') throw new TypeError('Expected a port');
  return address.port;
}
