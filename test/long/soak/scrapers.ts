import { setTimeout as delay } from 'node:timers/promises';
import { findLeaks } from '../../support/leaks.ts';
import { parseExposition } from '../../support/exposition-parser.ts';
import { SECRET } from './settings.ts';

const ACCEPT = {
  text: 'text/plain;version=0.0.4',
  openmetrics: 'application/openmetrics-text;version=1.0.0',
} as const;
type Format = keyof typeof ACCEPT;

/** Counters of single tasks: they restart with their task, which can end and return between two scrapes. */
const TASK_COUNTER = /^xvs_task_(?:input|http_output)_bytes/;
/** Counters of the exporter: they restart with its process. */
const PROCESS_COUNTER = /^(?:xvs_exporter_|process_|nodejs_)/;

/** Sample values by series: the metric name followed by its labels as JSON. */
export type Scrape = ReadonlyMap<string, number>;

/** Concurrent clients that check every response: status, valid exposition, no leaked secret, no decreasing counter. */
export class Scrapers {
  readonly problems = new Set<string>();
  readonly scrapes = { text: 0, openmetrics: 0, pages: 0, abandoned: 0 };
  /** Called with each scrape of all metrics, including process metrics. */
  onScrape: (scrape: Scrape) => void = () => undefined;
  readonly #url: string;
  readonly #random: () => number;
  #stop = new AbortController();
  #clients: readonly Promise<void>[] = [];
  /** By client, the last value of each counter that must survive a kill of the exporter. */
  readonly #lastCounters = new Map<string, Map<string, number>>();

  constructor(url: string, random: () => number) {
    this.#url = url;
    this.#random = random;
  }

  start(): void {
    this.#stop = new AbortController();
    this.#clients = [
      this.#scrapeRepeatedly('text', ''),
      this.#scrapeRepeatedly('openmetrics', ''),
      this.#scrapeRepeatedly('text', '?service_code=SOUND&service_code=ALPHA'),
      this.#scrapeRepeatedly('openmetrics', '?service_code=BETA'),
      this.#repeat(() => this.#fetchPages()),
      this.#repeat(() => this.#abortScrape()),
    ];
  }

  async scrape(format: Format, query = ''): Promise<Scrape> {
    const response = await fetch(`${this.#url}/metrics${query}`, { headers: { accept: ACCEPT[format] } });
    const text = await response.text();
    if (response.status !== 200) this.problems.add(`a scrape returned status ${response.status}`);
    for (const leak of findLeaks([text], SECRET)) this.problems.add(`a scrape contains ${leak}`);
    this.scrapes[format] += 1;
    const { families } = parseExposition(text, format);
    const samples = [...families.values()].flatMap((family) => family.samples);
    return new Map(samples.map(({ name, labels, value }) => [name + JSON.stringify(labels), value]));
  }

  /** Stops the clients; `start` starts them again. */
  async stop(): Promise<void> {
    this.#stop.abort();
    await Promise.all(this.#clients);
  }

  async #scrapeRepeatedly(format: Format, query: string): Promise<void> {
    let previous: Scrape = new Map();
    const lasting = this.#lastCounters.get(`${format} ${query}`) ?? new Map<string, number>();
    this.#lastCounters.set(`${format} ${query}`, lasting);
    await this.#repeat(async () => {
      const scrape = await this.scrape(format, query);
      for (const [series, value] of scrape) {
        if (!/_total\{/.test(series) || TASK_COUNTER.test(series)) continue;
        const last = Math.max(previous.get(series) ?? 0, lasting.get(series) ?? 0);
        if (value < last) this.problems.add(`${series} decreased`);
        if (!PROCESS_COUNTER.test(series)) lasting.set(series, value);
      }
      previous = scrape;
      if (query === '') this.onScrape(scrape);
    });
  }

  async #fetchPages(): Promise<void> {
    for (const path of ['/', '/-/healthy', '/-/ready']) {
      const response = await fetch(this.#url + path);
      const text = await response.text();
      if (path === '/-/healthy' && response.status !== 200)
        this.problems.add(`${path} returned status ${response.status}`);
      for (const leak of findLeaks([text], SECRET)) this.problems.add(`${path} contains ${leak}`);
      this.scrapes.pages += 1;
    }
  }

  /** Scrapes and disconnects within 10 ms. */
  async #abortScrape(): Promise<void> {
    const disconnect = new AbortController();
    const response = fetch(`${this.#url}/metrics`, { signal: disconnect.signal });
    setTimeout(() => disconnect.abort(), this.#random() * 10);
    // The response may arrive before the disconnect; both outcomes are valid.
    await response.then(
      async (complete) => await complete.text().catch(() => ''),
      () => undefined,
    );
    this.scrapes.abandoned += 1;
  }

  async #repeat(act: () => Promise<void>): Promise<void> {
    const { signal } = this.#stop;
    while (!signal.aborted) {
      try {
        await act();
      } catch (error) {
        this.problems.add(`a client failed: ${String(error)}`);
      }
      await delay(200 + this.#random() * 600, undefined, { signal }).catch(() => undefined);
    }
  }
}
