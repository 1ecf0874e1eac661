import { PollHistory } from '../../../src/poller/poll-history.ts';
import type { ServiceCodeStatus } from '../../../src/web/exporter-facade.ts';

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
    lastError: undefined,
    ret: 0,
    totals: {
      users: 12,
      tasks: 3,
      stalledTasks: 0,
      connections: 7,
      ingress: 125_000,
      egress: 12_500_000,
    },
    history: new PollHistory(),
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
    lastError: 'connect',
    ret: undefined,
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
    totals: undefined,
  });
}
