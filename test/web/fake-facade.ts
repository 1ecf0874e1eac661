import { CATALOGUE } from '../../src/metrics/catalogue.ts';
import { SINGLE_SHARD } from '../../src/sharding/shard.ts';
import type { ExporterFacade } from '../../src/web/exporter-facade.ts';
import { createStatus } from './status-page/status-fixtures.ts';

/** Creates a facade with the service codes `A` and `ü&=`. */
export function createFakeFacade(overrides: Partial<ExporterFacade> = {}): ExporterFacade {
  const codes = ['A', 'ü&='];
  return {
    version: '1.2.3',
    refresh: () => Promise.resolve(),
    shard: SINGLE_SHARD,
    getOtherShard: () => undefined,
    collect: (selection) =>
      Promise.resolve([
        {
          spec: CATALOGUE.up,
          samples: codes
            .filter((code) =>
              typeof selection === 'object' ? selection.has(code) : selection !== 'exporter',
            )
            .map((code) => ({ labels: [code], value: 1 })),
        },
        {
          spec: CATALOGUE.configLastReloadSuccessful,
          samples: selection === 'everything' || selection === 'exporter' ? [{ labels: [], value: 1 }] : [],
        },
      ]),
    getServiceCodes: () => codes.map((serviceCode) => ({ serviceCode, labels: {} })),
    hasServiceCode: (code) => codes.includes(code),
    isHealthy: () => true,
    isReady: () => true,
    nowMs: () => 0,
    getStatuses: () => [createStatus('A')],
    getStatus: (code) => (codes.includes(code) ? createStatus(code) : undefined),
    getBreakdown: () => undefined,
    ...overrides,
  };
}
