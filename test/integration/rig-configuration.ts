import type { Configuration, ServiceCodeSettings } from '../../src/config/configuration.ts';
import { loadConfiguration, REQUIRED_ENVIRONMENT } from '../support/configuration.ts';
import { readFixture } from '../support/fixtures.ts';

/** Service codes that get faults, over plain HTTP, TLS and a host name, and `SOUND`, which never gets one. */
export const CODES = ['FAULTY', 'SECURE', 'NAMED', 'SOUND'] as const;
export type Code = (typeof CODES)[number];

export const SECRET = 'correct-horse-battery';
export const INTERVAL_MS = 4000;
export const STALE_AFTER_MS = 3 * INTERVAL_MS;
const STALL_AFTER_MS = 4 * INTERVAL_MS;
const SOUND_TIMEOUT_MS = 20_000;
export const MAX_RESPONSE_BYTES = 1024 * 1024;
const DEFAULTS = await loadConfiguration({ env: REQUIRED_ENVIRONMENT });

/** Creates the configuration of a {@link Rig} for the base URLs of its service codes. */
export function createRigConfiguration(
  baseUrls: Readonly<Record<Code, string>>,
  faultyTimeoutMs: number,
): Configuration {
  const code = (serviceCode: Code, index: number): ServiceCodeSettings => ({
    serviceCode,
    baseUrl: baseUrls[serviceCode],
    secret: SECRET,
    intervalMs: INTERVAL_MS,
    // The clock of the rig tells them apart.
    timeoutMs: serviceCode === 'SOUND' ? SOUND_TIMEOUT_MS : faultyTimeoutMs + index,
    staleAfterMs: STALE_AFTER_MS,
    stallAfterMs: STALL_AFTER_MS,
    labels: {},
  });
  return {
    ...DEFAULTS,
    upstream: {
      ...DEFAULTS.upstream,
      maxResponseBytes: MAX_RESPONSE_BYTES,
      maxConnections: 4,
      tls: { ca: readFixture('tls/ca.pem').toString() },
      proxy: {},
    },
    serviceCodes: CODES.map(code),
    metrics: { ...DEFAULTS.metrics, perTask: true },
    web: { ...DEFAULTS.web, listenAddresses: [], maxRequests: 5 },
    log: { level: 'debug', format: 'json' },
  };
}
