import { parse } from 'yaml';
import { z } from 'zod';
import { readDeployFile } from './deploy-files.ts';

const configSchema = z.object({
  scrape_configs: z.tuple([
    z.looseObject({ static_configs: z.tuple([z.object({ targets: z.array(z.string()) })]) }),
    z.looseObject({
      http_sd_configs: z.tuple([z.object({ url: z.string(), refresh_interval: z.string() })]),
    }),
  ]),
});

/**
 * Returns the shipped jobs of prometheus-sd.yml with the addresses of these exporters and a discovery interval of one
 * second.
 */
export function createDiscoveryJobs(...addresses: readonly string[]): readonly object[] {
  const [process, codes] = configSchema.parse(
    parse(readDeployFile('prometheus/prometheus-sd.yml')),
  ).scrape_configs;
  const [{ url }] = codes.http_sd_configs;
  const [shipped = ''] = process.static_configs[0].targets;
  return [
    { ...process, static_configs: [{ targets: addresses }] },
    {
      ...codes,
      http_sd_configs: addresses.map((address) => ({
        url: url.replace(shipped, address),
        refresh_interval: '1s',
      })),
    },
  ];
}
