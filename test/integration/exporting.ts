import { createExporter, type Exporter } from '../../src/app.ts';
import type { Clock } from '../../src/clock.ts';
import type { Configuration, ServiceCodeSettings } from '../../src/config/configuration.ts';
import { createLogger } from '../../src/log.ts';
import { startSimulator, type Simulator } from '../../src/simulator/server.ts';
import { createWorld, type World } from '../../src/simulator/world.ts';
import { parseExposition } from '../support/exposition-parser.ts';
import { ManualClock } from '../support/manual-clock.ts';
import { PUBLISHED_SCHEME } from '../support/published-scheme.ts';
import { render } from '../support/render.ts';

/** The service code whose answers are spoiled, and one whose answers never are. */
export const FAULTY = 'FAULTY';
export const SOUND = 'SOUND';
export const SECRET = 'correct-horse-battery';
export const INTERVAL_MS = 15_000;
export const STALE_AFTER_MS = 45_000;
export const STALL_AFTER_MS = 60_000;
/** No answer that comes is this slow, and tests wait so long for those that do not. */
const FAULTY_TIMEOUT_MS = 750;
const SOUND_TIMEOUT_MS = 20_000;
export const MAX_RESPONSE_BYTES = 1024 * 1024;
const STARTED_AT_MS = Date.UTC(2026, 0, 1);

/** Values by series, as they stand in the text: name, labels in braces. */
export type Series = ReadonlyMap<string, number>;

/** The exporter and the simulator in one world, whose time the test moves. Requests take real time. */
export interface Rig extends AsyncDisposable {
  readonly clock: ManualClock;
  readonly world: World;
  readonly simulator: Simulator;
  readonly exporter: Exporter;
  readonly lines: readonly string[];
  /** Polls both service codes, and reads what is exposed then. */
  poll(): Promise<Series>;
  /** Polls twice at the same time: a counter that was born at zero then shows what it was born with. */
  settle(): Promise<Series>;
}

export async function startRig(): Promise<Rig> {
  const clock = new ManualClock(STARTED_AT_MS);
  const world = createWorld({ seed: 20, startedAtMs: STARTED_AT_MS, users: 60, tasks: 40 });
  const simulator = await startSimulator({
    listen: { host: '127.0.0.1', port: 0 },
    world,
    codes: new Map([FAULTY, SOUND].map((serviceCode) => [serviceCode, SECRET])),
    clock,
    clockToleranceMs: 1000,
    gzip: true,
  });
  const lines: string[] = [];
  const exporter = startExporter(simulator.url, clock, lines);
  const poll = async (): Promise<Series> => {
    await exporter.poller.pollOnce(new AbortController().signal);
    return await seriesOf(exporter);
  };
  return {
    clock,
    world,
    simulator,
    exporter,
    lines,
    poll,
    settle: async () => {
      await poll();
      return await poll();
    },
    [Symbol.asyncDispose]: async () => {
      await exporter[Symbol.asyncDispose]();
      await simulator[Symbol.asyncDispose]();
    },
  };
}

function startExporter(baseUrl: string, clock: Clock, lines: string[]): Exporter {
  const destination = { write: (line: string) => lines.push(line) };
  return createExporter(configurationFor(baseUrl), {
    clock,
    logger: createLogger({ level: 'debug', format: 'json', destination }),
    build: { version: '0.0.0', revision: 'test', nodeVersion: process.version },
  });
}

/** The configuration of the exporter for a service. */
export function configurationFor(baseUrl: string): Configuration {
  const code = (serviceCode: string, timeoutMs: number): ServiceCodeSettings => ({
    serviceCode,
    baseUrl,
    secret: SECRET,
    intervalMs: INTERVAL_MS,
    timeoutMs,
    staleAfterMs: STALE_AFTER_MS,
    stallAfterMs: STALL_AFTER_MS,
  });
  return {
    upstream: {
      connectTimeoutMs: 10_000,
      headersTimeoutMs: 10_000,
      idleTimeoutMs: 10_000,
      maxResponseBytes: MAX_RESPONSE_BYTES,
      maxConnections: 4,
      tls: {},
      proxy: {},
    },
    signing: PUBLISHED_SCHEME,
    serviceCodes: [code(FAULTY, FAULTY_TIMEOUT_MS), code(SOUND, SOUND_TIMEOUT_MS)],
    metrics: { maxLabelSets: 1000, perTask: true, maxTasks: 1000 },
    web: {
      listenAddresses: [],
      telemetryPath: '/metrics',
      maxRequests: 5,
      maxConnections: 16,
      opensProbes: false,
      enableLifecycle: false,
    },
    autoReload: false,
    state: { file: undefined, intervalMs: 60_000 },
    log: { level: 'debug', format: 'json' },
  };
}

/** Reads both forms of the exposition with the strict parser, and gives the samples of one. */
async function seriesOf(exporter: Exporter): Promise<Series> {
  const families = await exporter.view.collect();
  parseExposition(render(families, 'openmetrics'), 'openmetrics');
  const { families: parsed } = parseExposition(render(families, 'text'), 'text');
  return new Map(
    [...parsed.values()]
      .flatMap(({ samples }) => samples)
      .map(({ name, labels, value }) => [seriesName(name, labels), value]),
  );
}

/** A series as it stands in the text. */
function seriesName(name: string, labels: Readonly<Record<string, string>>): string {
  const pairs = Object.entries(labels).map(([label, value]) => `${label}="${value}"`);
  return `${name}{${pairs.join(',')}}`;
}

/** The series whose names begin with `prefix` and that belong to a service code. */
export function seriesWith(series: Series, prefix: string, serviceCode: string): Series {
  const code = `{service_code="${serviceCode}"`;
  return new Map([...series].filter(([name]) => name.startsWith(prefix) && name.includes(code)));
}

/** What the service says through the exporter, and not what the exporter says of itself. */
export function ofTheService(series: Series, serviceCode: string): Series {
  const all = seriesWith(series, 'xvs_', serviceCode);
  return new Map([...all].filter(([name]) => !name.startsWith('xvs_exporter_')));
}

/** What accumulates between listings, but for single tasks, whose series go when the tasks do. */
export function accumulated(series: Series, serviceCode: string): Series {
  const all = ofTheService(series, serviceCode);
  return new Map(
    [...all].filter(([name]) => /_(?:total|bucket|sum|count)\{/.test(name) && !/task_id=/.test(name)),
  );
}

/** The sum over a family of a service code. */
export function sumOf(series: Series, family: string, serviceCode: string): number {
  return [...seriesWith(series, `${family}{`, serviceCode).values()].reduce((sum, value) => sum + value, 0);
}

/** Bytes by task, and by output within it, of one listing. */
export type ListedBytes = ReadonlyMap<string, number>;

/** What the listing of this moment says of bytes received; `isListed` tells by their place which tasks are in it. */
export function inputBytesNow(
  { world, clock, simulator }: Rig,
  serviceCode: string,
  isListed: (index: number) => boolean = () => true,
): ListedBytes {
  const tasks = [...world.tasks(serviceCode, clock.now(), simulator.faults.freezes())];
  return new Map(tasks.filter((_, index) => isListed(index)).map((task) => [task.id, task.input_bytes]));
}

/** The same of bytes delivered. */
export function outputBytesNow({ world, clock, simulator }: Rig, serviceCode: string): ListedBytes {
  const tasks = [...world.tasks(serviceCode, clock.now(), simulator.faults.freezes())];
  const outputs = tasks.flatMap((task) => task.outputs);
  return new Map(outputs.map((output) => [output.file_name, output.http_output_bytes]));
}

/** How many bytes flowed between the first of some listings and the last, as far as they tell. */
export function growthOver(listings: readonly ListedBytes[]): number {
  const last = new Map(listings[0]);
  let growth = 0;
  for (const listing of listings.slice(1)) {
    for (const [key, bytes] of listing) {
      growth += bytes - (last.get(key) ?? 0);
      last.set(key, bytes);
    }
  }
  return growth;
}
