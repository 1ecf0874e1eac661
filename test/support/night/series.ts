import {
  computeEgress,
  countConnections,
  MIN_INPUT_RATE,
  OUTPUTS,
  receives,
  STEP_SECONDS,
  STEPS,
  type Night,
  type NightCode,
  type NightTask,
  type Replica,
} from './truth.ts';

/** `poll.stall_after`, and the default of `upstream.timeout`. */
const STALL_SECONDS = 60;
const TIMEOUT_SECONDS = 10;

/** Samples of a series, one for each scrape; `undefined` where it has none. */
export type Samples = (number | undefined)[];
export type NightSeries = ReadonlyMap<string, Samples>;

/** What a process knows of a code. */
interface Memory {
  lastPoll: number | undefined;
  lastSuccess: number | undefined;
  isUp: boolean;
  polls: number;
  failures: number;
  /** When a task's bytes last grew, or when it was first listed. */
  readonly grewAt: Map<NightTask, number>;
  /** Tasks that have never received anything as far as the process knows. */
  readonly listed: Set<NightTask>;
  readonly inputBytes: Map<string, number>;
  readonly outputBytes: Map<string, number>;
  readonly nameBytes: Map<string, number>;
  /** What has flowed since the last good listing, which the next one shows. */
  readonly pending: { readonly bytes: Map<string, number>; readonly key: string; readonly gain: number }[];
  readonly lastSeen: Map<string, number>;
  gauges: readonly Sample[];
}

interface Sample {
  readonly name: string;
  readonly labels: Readonly<Record<string, string>>;
  readonly value: number;
}

function createMemory(): Memory {
  return {
    lastPoll: undefined,
    lastSuccess: undefined,
    isUp: false,
    polls: 0,
    failures: 0,
    grewAt: new Map(),
    listed: new Set(),
    inputBytes: new Map(),
    outputBytes: new Map(),
    nameBytes: new Map(),
    pending: [],
    lastSeen: new Map(),
    gauges: [],
  };
}

/** Writes what the exporters of a night expose, as one Prometheus scrapes it. */
export function exposeNight(night: Night, phase: number): NightSeries {
  const series = new Map<string, Samples>();
  for (const replica of night.replicas)
    exposeReplica(night, replica, phase, (step, sample) => {
      const labels = { job: 'xvs-exporter', instance: replica.instance, ...sample.labels };
      const key = `${sample.name}{${Object.entries(labels)
        .map(([label, value]) => `${label}="${value}"`)
        .join(', ')}}`;
      const samples = series.get(key) ?? Array.from<undefined>({ length: STEPS });
      samples[step] = sample.value;
      series.set(key, samples);
    });
  return series;
}

function exposeReplica(
  { codes }: Night,
  { isUp, hasState }: Replica,
  phase: number,
  put: (step: number, sample: Sample) => void,
): void {
  const memories = new Map(codes.map((code) => [code, createMemory()]));
  for (const [code, memory] of memories) rememberEarlierDays(code, memory);
  let startedAt = -86_400;
  let second = 0;
  let wasUp = true;
  for (let step = 0; step < STEPS; step += 1) {
    for (; second <= step * STEP_SECONDS + phase; second += 1) {
      if (isUp.at(second) && !wasUp) {
        startedAt = second;
        for (const code of codes) if (!hasState) memories.set(code, createMemory());
        for (const memory of memories.values())
          Object.assign(memory, { lastPoll: undefined, lastSuccess: undefined });
      }
      wasUp = isUp.at(second);
      for (const [code, memory] of memories)
        if (wasUp && (second - Math.max(0, startedAt)) % code.intervalSeconds === 0)
          poll(code, memory, second);
    }
    const now = step * STEP_SECONDS + phase;
    const about = (name: string, value: number, labels = {}): void => put(step, { name, labels, value });
    about('up', wasUp ? 1 : 0);
    if (!wasUp) continue;
    const configured = codes.filter(({ isConfigured }) => isConfigured.at(now));
    about('xvs_exporter_build_info', 1);
    about('xvs_exporter_time_seconds', now);
    about('process_start_time_seconds', startedAt);
    about('xvs_exporter_config_last_reload_success_timestamp_seconds', startedAt);
    about('xvs_exporter_service_codes', configured.length);
    for (const code of configured) {
      const memory = memories.get(code) ?? createMemory();
      for (const sample of sampleCode(code, memory, now)) put(step, sample);
    }
  }
}

/** The process has run for days when the night begins. */
function rememberEarlierDays(code: NightCode, memory: Memory): void {
  for (const task of code.tasks) {
    memory.listed.add(task);
    memory.grewAt.set(task, receives(task, 0) ? 0 : -86_400);
  }
}

function poll(code: NightCode, memory: Memory, now: number): void {
  const { serviceCode, tasks, servers, names } = code;
  memory.lastPoll = now;
  memory.polls += 1;
  memory.isUp = code.answers.at(now);
  measureFlow(code, memory, now);
  if (!memory.isUp) {
    memory.failures += 1;
    return;
  }
  memory.lastSuccess = now;
  const C = { service_code: serviceCode };
  const gauges: Sample[] = [];
  const gauge = (name: string, value: number, labels: Readonly<Record<string, string>> = {}): void => {
    gauges.push({ name, labels: { ...C, ...labels }, value });
  };
  const listed = tasks.filter(({ isListed }) => isListed.at(now));
  for (const task of tasks) {
    if (!listed.includes(task)) memory.listed.delete(task);
    else if (!memory.listed.has(task) || receives(task, now)) memory.grewAt.set(task, now);
  }
  for (const task of listed) memory.listed.add(task);
  const isStalled = (task: NightTask): boolean => now - (memory.grewAt.get(task) ?? now) >= STALL_SECONDS;
  for (const { bytes, key, gain } of memory.pending.splice(0)) bytes.set(key, (bytes.get(key) ?? 0) + gain);
  for (const server of servers) {
    const own = listed.filter((task) => task.server === server);
    if (own.length > 0) memory.lastSeen.set(server, now);
    if (now - (memory.lastSeen.get(server) ?? -Infinity) > 3600) continue;
    const V = { vs_id: server };
    gauge('xvs_tasks', own.length, V);
    gauge('xvs_server_last_seen_timestamp_seconds', memory.lastSeen.get(server) ?? now, V);
    if (own.length === 0) continue;
    gauge('xvs_tasks_with_progress', 0, V);
    gauge('xvs_tasks_stalled', own.filter(isStalled).length, V);
    gauge('xvs_tasks_without_input', 0, V);
    gauge('xvs_http_connections', countConnections(code, server, now), { ...V, format: 'flv' });
  }
  for (const name of names) {
    const own = listed.filter((task) => task.name === name);
    const T = { task_name: name };
    gauge('xvs_expected_task_up', own.some((task) => !isStalled(task)) ? 1 : 0, T);
    const outputs = own.map((task) => task.outputs.at(now));
    if (own.length > 0) gauge('xvs_expected_task_outputs', Math.max(...outputs), T);
  }
  gauge('xvs_listing_tasks', listed.length);
  gauge('xvs_listing_users', code.users.at(now));
  memory.gauges = gauges;
}

/** Adds what has flowed since the poll before. */
function measureFlow(
  code: NightCode,
  { inputBytes, outputBytes, nameBytes, pending }: Memory,
  now: number,
): void {
  const { intervalSeconds, tasks, servers, names } = code;
  const flow = (bytes: Map<string, number>, key: string, rate: number): void => {
    pending.push({ bytes, key, gain: Math.round(rate * intervalSeconds) });
  };
  const sumInput = (of: (task: NightTask) => boolean): number =>
    tasks
      .filter((task) => of(task) && receives(task, now))
      .reduce((sum, task) => sum + task.inputRate.at(now), 0);
  for (const server of servers) {
    flow(
      inputBytes,
      server,
      sumInput((task) => task.server === server),
    );
    flow(outputBytes, server, computeEgress(code, server, now));
  }
  for (const name of names)
    flow(
      nameBytes,
      name,
      sumInput((task) => task.name === name),
    );
}

function* sampleCode(code: NightCode, memory: Memory, now: number): Generator<Sample> {
  const { serviceCode, intervalSeconds: interval, names } = code;
  const sample = (name: string, value: number, labels: Readonly<Record<string, string>> = {}): Sample => ({
    name,
    labels: { service_code: serviceCode, ...labels },
    value,
  });
  yield sample('xvs_exporter_poll_interval_seconds', interval);
  yield sample('xvs_expected_tasks', code.expectedTasks.at(now));
  yield sample('xvs_exporter_polls_total', memory.polls);
  yield sample('xvs_exporter_poll_errors_total', memory.failures, { reason: 'timeout' });
  for (const name of names) {
    yield sample('xvs_expected_task_min_input_bytes_per_second', MIN_INPUT_RATE, { task_name: name });
    yield sample('xvs_expected_task_min_outputs', OUTPUTS, { task_name: name });
  }
  if (memory.lastPoll !== undefined) {
    yield sample('xvs_up', memory.isUp ? 1 : 0);
    yield sample('xvs_exporter_last_poll_timestamp_seconds', memory.lastPoll);
  }
  const isKnown =
    memory.lastSuccess !== undefined &&
    now - memory.lastSuccess < Math.max(3 * interval, interval + 2 * TIMEOUT_SECONDS);
  if (isKnown) yield* memory.gauges;
  else for (const name of names) yield sample('xvs_expected_task_up', 0, { task_name: name });
  if (memory.lastSuccess === undefined) return;
  yield sample('xvs_exporter_last_success_timestamp_seconds', memory.lastSuccess);
  for (const [server, bytes] of memory.inputBytes)
    yield sample('xvs_input_bytes_total', bytes, { vs_id: server });
  for (const [server, bytes] of memory.outputBytes)
    yield sample('xvs_http_output_bytes_total', bytes, { vs_id: server, format: 'flv' });
  for (const [name, bytes] of memory.nameBytes)
    yield sample('xvs_expected_task_input_bytes_total', bytes, { task_name: name });
}
