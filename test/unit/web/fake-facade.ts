import { CATALOGUE } from '../../../src/metrics/catalogue.ts';
import { columnByLabel, columnOf, NO_NUMBERS } from '../../../src/families/family.ts';
import type { Family } from '../../../src/families/family.ts';
import type { WebRequest } from '../../../src/web/http-messages.ts';
import type { ExporterFacade } from '../../../src/web/exporter-facade.ts';
import { createPolling, createStatus, PROCESS } from './status-page/status-fixtures.ts';

/** A facade without service codes. */
export function createEmptyFacade(overrides: Partial<ExporterFacade> = {}): ExporterFacade {
  return {
    telemetryPath: '/metrics',
    explainUnknown: () => 'No such service code is configured.',
    collect: () => collected([]),
    getLastBody: () => ({ bytes: 0 }),
    getServiceCodes: () => [],
    isHealthy: () => true,
    isReady: () => true,
    getProcess: () => PROCESS,
    getStatuses: () => [],
    getStatus: () => undefined,
    getPolling: () => createPolling(),
    getBreakdown: () => undefined,
    ...overrides,
  };
}

/** Creates a facade with the service codes `A` and `ü&=`. */
export function createFakeFacade(overrides: Partial<ExporterFacade> = {}): ExporterFacade {
  const codes = ['A', 'ü&='];
  return createEmptyFacade({
    collect: (selection) =>
      collected([
        {
          spec: CATALOGUE.up,
          samples: columnByLabel(
            codes
              .filter((code) =>
                typeof selection === 'object' ? selection.serviceCode === code : selection !== 'exporter',
              )
              .map((code) => [code, 1]),
          ),
        },
        {
          spec: CATALOGUE.configLastReloadSuccessful,
          samples: selection === 'everything' || selection === 'exporter' ? columnOf(1) : NO_NUMBERS,
        },
      ]),
    getServiceCodes: () => codes.map((serviceCode) => ({ serviceCode, labels: {} })),
    explainUnknown: (code) => (codes.includes(code) ? undefined : 'No such service code is configured.'),
    getStatuses: () => [createStatus('A')],
    getStatus: (code) => (codes.includes(code) ? createStatus(code) : undefined),
    ...overrides,
  });
}

/** A GET request without headers, by default over HTTP and not authenticated. */
export function createRequest(overrides: Partial<WebRequest>): WebRequest {
  const { signal } = new AbortController();
  const client = { scheme: 'http', socketPath: undefined, isAuthenticated: false, signal } as const;
  return { method: 'GET', url: '/', headers: {}, ...client, ...overrides };
}

/** What a facade collects for a scrape. */
export function collected(families: readonly Family[]): Promise<Iterable<Family>> {
  return Promise.resolve(families);
}
