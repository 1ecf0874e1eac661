import assert from 'node:assert/strict';
import { test, type TestContext } from 'node:test';
import { setTimeout as delay } from 'node:timers/promises';
import { parseExposition } from '../../support/exposition-parser.ts';
import { SETTINGS, startProgram } from '../../support/program.ts';
import { Random } from '../../support/random.ts';
import { TemporaryFolder } from '../../support/temporary-folder.ts';
import { waitUntil } from '../../support/wait-until.ts';
import { serveHttp } from '../../support/servers.ts';

const CODES = ['A', 'B', 'C', 'D'];
const EXPORTERS = 2;
const KILLS_PER_EXPORTER = Number(process.env['XVS_KILLS'] ?? 6);
const TASKS_PER_CODE = 100;
const SERVERS = ['v1', 'v2', 'v3'];
const MAX_RUN_MS = 1500;
/** When a task has been listed this often to one process, that process has taken its last value. */
const TAKEN_LISTINGS = 3;

const FAMILIES = { input: 'xvs_input_bytes_total', output: 'xvs_http_output_bytes_total' } as const;
type Totals = Readonly<Record<keyof typeof FAMILIES, number>>;

interface Task {
  readonly id: string;
  server: string;
  /** What it had carried when it was first listed. */
  readonly origin: number;
  bytes: number;
  /** Listings for which it is left out. */
  absentFor: number;
  /** Listings to the present process since it carried its last byte; `undefined` while it runs. */
  restedFor: number | undefined;
}

/** The tasks of a service code: they grow with each listing, come and go, move, and end. */
class World {
  isFrozen = true;
  listings = 0;
  readonly #random: Random;
  #tasks: Task[] = [];
  #taskCount = 0;
  #endedBytes = 0;

  constructor(random: Random) {
    this.#random = random;
    for (let count = 0; count < TASKS_PER_CODE; count += 1) this.#start(2e9);
  }

  /** The bytes that listings have shown since the first one. */
  get carriedBytes(): number {
    return this.#tasks.reduce((sum, { bytes, origin }) => sum + bytes - origin, this.#endedBytes);
  }

  /** The next process may not have taken what was listed to the last one. */
  kill(): void {
    for (const task of this.#tasks) if (task.restedFor !== undefined) task.restedFor = 0;
  }

  freeze(): void {
    this.isFrozen = true;
    this.listings = 0;
  }

  list(): object {
    this.listings += 1;
    if (!this.isFrozen) this.#advance();
    const listed = this.#tasks.filter(({ absentFor }) => absentFor === 0 || this.isFrozen);
    return { ret: 0, user_list: [], task_list: listed.map(toRecord) };
  }

  #advance(): void {
    const random = this.#random;
    for (const task of this.#tasks) {
      if (task.restedFor !== undefined) {
        task.restedFor += 1;
        continue;
      }
      task.absentFor = Math.max(0, task.absentFor - 1);
      if (random.chance(0.02)) task.absentFor = 1 + random.integer(3);
      if (random.chance(0.02)) task.server = random.pick(SERVERS);
      if (task.absentFor === 0) task.bytes += random.integer(100_000);
      if (task.absentFor === 0 && random.chance(0.02)) task.restedFor = 0;
    }
    for (const ended of this.#tasks.filter(({ restedFor = 0 }) => restedFor > TAKEN_LISTINGS)) {
      this.#endedBytes += ended.bytes - ended.origin;
      this.#tasks.splice(this.#tasks.indexOf(ended), 1);
      this.#start(0);
    }
  }

  #start(origin: number): void {
    this.#taskCount += 1;
    const server = this.#random.pick(SERVERS);
    const task = {
      id: `task-${this.#taskCount}`,
      server,
      origin,
      bytes: origin,
      absentFor: 0,
      restedFor: undefined,
    };
    this.#tasks.push(task);
  }
}

function toRecord({ id, server, bytes }: Task): object {
  const output = {
    format: 'hls',
    file_name: `${id}.m3u8`,
    http_output_bytes: bytes,
    http_connections_num: 1,
  };
  return { id, vs_id: server, input_bytes: bytes, outputs: [output] };
}

interface Exposition {
  readonly totals: ReadonlyMap<string, Totals>;
  /** Whether listings may have been published that were not written. */
  readonly hasDelayedPublications: boolean;
}

async function scrape(url: string): Promise<Exposition> {
  const { families } = parseExposition(await (await fetch(`${url}/metrics`)).text(), 'text');
  const sum = (family: string, serviceCode: string): number | undefined => {
    const samples = families.get(family)?.samples ?? [];
    const values = samples.filter(({ labels }) => labels['service_code'] === serviceCode);
    return values.length === 0 ? undefined : values.reduce((total, { value }) => total + value, 0);
  };
  // Before the first good listing of a process, a code has none.
  const totals = CODES.flatMap((code): [string, Totals][] => {
    const [input, output] = [sum(FAMILIES.input, code), sum(FAMILIES.output, code)];
    return input === undefined || output === undefined ? [] : [[code, { input, output }]];
  });
  const [delayed] = families.get('xvs_exporter_state_delayed_publications_total')?.samples ?? [];
  return { totals: new Map(totals), hasDelayedPublications: delayed?.value !== 0 };
}

/**
 * Kills an exporter at any moment and starts it again, until it has been killed often enough; then compares
 * its counters.
 */
async function killOften(t: TestContext, seed: number): Promise<void> {
  const random = new Random(seed);
  const worlds = new Map(CODES.map((code) => [code, new World(random)]));
  const serviceUrl = await serveHttp(t, ({ url = '' }, response) => {
    const code = new URL(url, 'http://service').searchParams.get('service_code') ?? '';
    response.end(JSON.stringify(worlds.get(code)?.list()));
  });
  using folder = new TemporaryFolder();
  const settings = {
    ...SETTINGS,
    XVS_UPSTREAM_BASE_URL: serviceUrl,
    XVS_SERVICE_CODES: CODES.join(','),
    XVS_POLL_INTERVAL: '1s',
    XVS_STATE_PATH: folder.at('state'),
  };
  let last: Exposition = { totals: new Map(), hasDelayedPublications: false };
  /** Scrapes, and checks that no counter has gone back or has more than listings have shown. */
  const check = async (url: string): Promise<void> => {
    const found = await scrape(url);
    for (const [code, totals] of found.totals)
      for (const direction of ['input', 'output'] as const) {
        const lastBytes = last.hasDelayedPublications ? 0 : (last.totals.get(code)?.[direction] ?? 0);
        const bytes = totals[direction];
        assert.ok(bytes >= lastBytes, `${code}, ${direction}: ${bytes} after ${lastBytes}, seed ${seed}`);
        const carriedBytes = worlds.get(code)?.carriedBytes ?? 0;
        assert.ok(bytes <= carriedBytes, `${code}, ${direction}: ${bytes} of ${carriedBytes}, seed ${seed}`);
      }
    last = { ...found, totals: new Map([...last.totals, ...found.totals]) };
  };
  /** Freezes all worlds until the exporter has taken them. */
  const takeAll = async (): Promise<void> => {
    for (const world of worlds.values()) world.freeze();
    await waitUntil(
      () => [...worlds.values()],
      (all) => all.every(({ listings }) => listings > TAKEN_LISTINGS),
    );
  };
  for (let kill = 0; kill < KILLS_PER_EXPORTER; kill += 1) {
    await using program = startProgram([], settings);
    const url = `http://127.0.0.1:${await program.waitForPort()}`;
    // The values of the first listing are not counted.
    if (kill === 0) await takeAll();
    for (const world of worlds.values()) world.isFrozen = false;
    const until = performance.now() + random.next() * MAX_RUN_MS;
    while (performance.now() < until) {
      await check(url);
      await delay(50);
    }
    program.signal('SIGKILL');
    await program.exitCode;
    for (const world of worlds.values()) world.kill();
  }
  await using program = startProgram([], settings);
  const url = `http://127.0.0.1:${await program.waitForPort()}`;
  await takeAll();
  await check(url);
  for (const [code, { carriedBytes }] of worlds)
    assert.deepEqual(last.totals.get(code), { input: carriedBytes, output: carriedBytes }, `seed ${seed}`);
}

test(`counters are exact after ${EXPORTERS * KILLS_PER_EXPORTER} kills under load`, async (t) => {
  await Promise.all(Array.from({ length: EXPORTERS }, async (_, index) => killOften(t, index + 1)));
});
