import { PollHistory } from '../../../../src/poller/poll-history.ts';
import type { PollFailure } from '../../../../src/poller/store.ts';
import { SINGLE_SHARD } from '../../../../src/sharding/shard.ts';
import type { PollingStatus, ProcessStatus, ServiceCodeStatus } from '../../../../src/web/exporter-facade.ts';

/** The wall-clock time that the pages show. */
export const NOW_MS = Date.UTC(2026, 0, 2, 3, 4, 5);

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
    totals: {
      users: 12,
      tasks: 3,
      stalledTasks: 0,
      tasksWithoutInput: 0,
      tasksWithProgress: 0,
      connections: 7,
      ingress: 125_000,
      egress: 12_500_000,
    },
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

/** A service code that is down and has no values. */
export function createDownStatus(
  serviceCode: string,
  overrides: Partial<ServiceCodeStatus> = {},
): ServiceCodeStatus {
  return createStatus(serviceCode, {
    condition: 'down',
    lastSuccessMs: undefined,
    failure: createFailure(),
    ret: undefined,
    httpStatus: undefined,
    totals: undefined,
    ...overrides,
  });
}

/** A service code whose first poll is in progress. */
export function createWaitingStatus(serviceCode: string): ServiceCodeStatus {
  return createStatus(serviceCode, {
    condition: 'waiting',
    lastPollMs: undefined,
    lastSuccessMs: undefined,
    ret: undefined,
    httpStatus: undefined,
    totals: undefined,
  });
}

/** A process that has run for an hour. */
export const PROCESS: ProcessStatus = {
  nowMs: NOW_MS,
  configurationFile: undefined,
  grafanaUrl: 'https://grafana.example.com',
  runbookUrl: 'https://docs.example.com/runbook.md',
  version: '1.2.3',
  shard: SINGLE_SHARD,
  uptimeMs: 3_600_000,
  lastSuccessMs: NOW_MS - 600_000,
  lastFailureMs: undefined,
};

/** Polls every 15 seconds; the next one is due in ten. */
export function createPolling(overrides: Partial<PollingStatus> = {}): PollingStatus {
  return {
    origin: 'https://live.example.com:8443',
    intervalMs: 15_000,
    nextPollMs: NOW_MS + 10_000,
    isPaused: false,
    ...overrides,
  };
}

/** A history of polls every ten seconds, each with a number of users or failed. */
export function createUserHistory(...users: readonly (number | 'failed')[]): PollHistory {
  const history = new PollHistory();
  users.forEach((value, index) => {
    const poll = { atMs: index * 10_000, durationMs: 5 };
    if (value === 'failed') history.append({ ...poll, error: 'reset' });
    else {
      const totals = {
        tasks: 0,
        stalledTasks: 0,
        tasksWithoutInput: 0,
        tasksWithProgress: 0,
        connections: 0,
        inputBytes: 0,
        outputBytes: 0,
      };
      history.append({ ...poll, totals: { ...totals, users: value } });
    }
  });
  return history;
}
