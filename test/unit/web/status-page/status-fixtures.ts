import { PollHistory, type PolledTotals } from '../../../../src/poller/poll-history.ts';
import type { PollPlan } from '../../../../src/poller/service-code-poller.ts';
import type { PollFailure } from '../../../../src/poller/store.ts';
import { NO_LOSSES, type CodeLosses } from '../../../../src/tally/losses/losses.ts';
import { SINGLE_SHARD } from '../../../../src/sharding/shard.ts';
import type { ProcessStatus, ServiceCodeStatus } from '../../../../src/web/exporter-facade.ts';
import type { ListingBreakdown } from '../../../../src/web/listing-breakdown.ts';

/** The wall-clock time that the pages show. */
export const NOW_MS = Date.UTC(2026, 0, 2, 3, 4, 5);

/** Names that attack a page or break its layout. */
export const HOSTILE_NAMES: readonly string[] = [
  '<script>document.title = "owned"</script>',
  '"><img src=x onerror="document.title=\'owned\'">',
  `' onmouseover='document.title="owned"' x='`,
  '</title></style></script><h1>owned</h1>',
  '&lt;b&gt;&amp;&#0;',
  '\u202Edlrow olleh\u2066\u200F',
  'עברית and العربية',
  'W'.repeat(128),
  '👩‍👩‍👧‍👦🏴‍☠️'.repeat(8),
  '../../../-/healthy?x#y',
  '..',
  '100% %2F %zz',
  '${7*7} {{7*7}} `x`',
];

export const createLosses = (losses: Partial<CodeLosses>): CodeLosses => ({ ...NO_LOSSES, ...losses });

export const minutesAgo = (minutes: number) => ({ wallMs: NOW_MS - minutes * 60_000, monotonicMs: 0 });

/** Totals of a listing; all are 0 unless they are given. */
export function createTotals(totals: Partial<NonNullable<ServiceCodeStatus['totals']>> = {}) {
  const silent = { stalledTasks: 0, tasksWithoutInput: 0 };
  const none = { users: 0, tasks: 0, tasksWithProgress: 0, ...silent };
  const sound = { rejected: { count: 0, first: undefined }, tasksWithoutAccount: 0, byteCountsWaiting: 0 };
  return { ...none, ...sound, ingress: 0, egress: 0, connections: 0, ...totals };
}

/** A service code that is up and was polled five seconds ago. */
export function createStatus(
  serviceCode: string,
  overrides: Partial<ServiceCodeStatus> = {},
): ServiceCodeStatus {
  return {
    serviceCode,
    labels: {},
    condition: 'up',
    lastPollMs: NOW_MS - 5000,
    lastSuccessMs: NOW_MS - 5000,
    failure: undefined,
    ret: 0,
    httpStatus: 200,
    certificateNotAfterMs: undefined,
    totals: createTotals({ users: 12, tasks: 3, connections: 7, ingress: 125_000, egress: 12_500_000 }),
    losses: NO_LOSSES,
    history: new PollHistory(),
    expectedTasks: [],
    expectedTaskCount: 0,
    ...overrides,
  };
}

/** A refused connection since eleven minutes. */
export function createFailure(overrides: Partial<PollFailure> = {}): PollFailure {
  return {
    reason: 'connect',
    message: 'Could not connect to the service (ECONNREFUSED)',
    remedies: ['Nothing listens at live.example.com.'],
    sinceMs: NOW_MS - 11 * 60_000,
    pausedUntilMs: undefined,
    ...overrides,
  };
}

const NEVER_LISTED = { lastSuccessMs: undefined, ret: undefined, httpStatus: undefined, totals: undefined };

/** A service code that is down and has no values. */
export function createDownStatus(
  serviceCode: string,
  overrides: Partial<ServiceCodeStatus> = {},
): ServiceCodeStatus {
  const failure = createFailure();
  return createStatus(serviceCode, { condition: 'down', ...NEVER_LISTED, failure, ...overrides });
}

/** A service code whose first poll is in progress. */
export function createWaitingStatus(serviceCode: string): ServiceCodeStatus {
  return createStatus(serviceCode, { condition: 'waiting', ...NEVER_LISTED, lastPollMs: undefined });
}

/** A process that has run for an hour. */
export const PROCESS: ProcessStatus = {
  nowMs: NOW_MS,
  command: ['node', '/opt/main.js'],
  configurationFile: '/etc/xvs.yml',
  telemetryPath: '/metrics',
  liveAccountShare: 0.5,
  isStateOpen: undefined,
  webCertificateNotAfterMs: undefined,
  clientCertificateNotAfterMs: undefined,
  stateUnwrittenSinceMs: undefined,
  grafanaUrl: 'https://grafana.example.com',
  runbookUrl: 'https://docs.example.com/runbook.md',
  version: '1.2.3',
  shard: SINGLE_SHARD,
  uptimeMs: 3_600_000,
  lastSuccessMs: NOW_MS - 600_000,
  lastFailureMs: undefined,
  codeLosses: [],
};

/** Polls every 15 seconds; the next one is due in ten. */
export function createPolling(overrides: Partial<PollPlan> = {}): PollPlan {
  return {
    origin: 'https://live.example.com:8443',
    intervalMs: 15_000,
    nextPollInMs: 10_000,
    isPaused: false,
    ...overrides,
  };
}

const NO_TOTALS: PolledTotals = {
  users: 0,
  tasks: 0,
  connections: 0,
  inputBytes: 0,
  outputBytes: 0,
  serverOutputBytes: new Map(),
};

/** A history of polls every ten seconds, each with totals, or failed for a reason and with a code. */
export function createHistory(
  ...polls: readonly (Partial<PolledTotals> | readonly ['http_status' | 'reset' | 'tls', number?])[]
): PollHistory {
  const history = new PollHistory();
  for (const [index, poll] of polls.entries()) {
    const common = { atMs: index * 10_000, durationMs: 30 };
    if ('length' in poll) history.append({ ...common, error: poll[0], errorCode: poll[1] });
    else history.append({ ...common, totals: { ...NO_TOTALS, ...poll } });
  }
  return history;
}

/** A breakdown whose servers and tasks have these names. */
export function createBreakdown(name: (index: number) => string, serverCount = 5): ListingBreakdown {
  return {
    servers: Array.from({ length: serverCount }, (_, index) => ({
      vsId: name(index),
      users: 1000 - 50 * index,
      tasks: 40 - index,
      stalledTasks: index === 0 ? 3 : 0,
      tasksWithoutInput: 0,
      connections: 7000 - 350 * index,
      egress: 125_000 * index,
      lastSeenMs: NOW_MS - 5000,
    })),
    longestWithoutInput: [],
    longestStalled: [0, 1].map((index) => ({
      id: name(index),
      name: undefined,
      vsId: name(1),
      sinceMs: NOW_MS - 60_000 * (5 - index),
    })),
  };
}
