import type { Configuration } from './configuration.ts';
import { formatDuration } from './units.ts';

/** What `--config.check` prints of a good configuration: the codes and how they are polled, no secret. */
export function maskedSummary({ serviceCodes, web }: Configuration): string {
  const width = Math.max(...serviceCodes.map(({ serviceCode }) => serviceCode.length));
  const addresses = web.listenAddresses.map(
    ({ host = '', port }) => `${host.includes(':') ? `[${host}]` : host}:${port}`,
  );
  return [
    `The configuration is valid: ${serviceCodes.length} service code${serviceCodes.length === 1 ? '' : 's'}.`,
    ...serviceCodes.map(
      ({ serviceCode, baseUrl, intervalMs }) =>
        `  ${serviceCode.padEnd(width)}  ${baseUrl} every ${formatDuration(intervalMs)}`,
    ),
    `Metrics at ${addresses.join(', ')}, path ${web.telemetryPath}.`,
    ...(web.configFile === undefined ? [] : [`Guarded as ${web.configFile} says.`]),
  ].join('\n');
}
