import { PollHistory } from '../../../src/poller/poll-history.ts';
import type { ServiceCodeStatus } from '../../../src/web/view.ts';

/** The moment at which the pages of tests are looked at. */
export const NOW_MS = Date.UTC(2026, 0, 2, 3, 4, 5);

/** A service code that is up and had its last poll five seconds ago. */
export function statusOf(serviceCode: string, more: Partial<ServiceCodeStatus> = {}): ServiceCodeStatus {
  return {
    serviceCode,
    labels: {},
    condition: 'up',
    lastPollMs: NOW_MS - 5000,
    lastSuccessMs: NOW_MS - 5000,
    lastError: undefined,
    ret: 0,
    figures: {
      users: 12,
      tasks: 3,
      stalledTasks: 0,
      connections: 7,
      ingress: 125_000,
      egress: 12_500_000,
    },
    history: new PollHistory(),
    ...more,
  };
}

/** One that is down, and of which nothing is known. */
export function downStatusOf(serviceCode: string, more: Partial<ServiceCodeStatus> = {}): ServiceCodeStatus {
  return statusOf(serviceCode, {
    condition: 'down',
    lastSuccessMs: undefined,
    lastError: 'connect',
    ret: undefined,
    figures: undefined,
    ...more,
  });
}

/** One whose first poll is not over. */
export function waitingStatusOf(serviceCode: string): ServiceCodeStatus {
  return statusOf(serviceCode, {
    condition: 'waiting',
    lastPollMs: undefined,
    lastSuccessMs: undefined,
    ret: undefined,
    figures: undefined,
  });
}
