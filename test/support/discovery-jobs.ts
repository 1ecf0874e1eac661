import { parse } from 'yaml';
import { z } from 'zod';
import { readDeployFile } from './deploy-files.ts';

const configSchema = z.object({
  scrape_configs: z.tuple([
    z.looseObject({
      http_sd_configs: z.tuple([z.object({ url: z.string(), refresh_interval: z.string() })]),
    }),
  ]),
});

/**
 * Returns the shipped job of prometheus-sd.yml with the addresses of these exporters and a discovery interval of one
 * second.
 */
export function createDiscoveryJobs(...addresses: readonly string[]): readonly object[] {
  const [job] = configSchema.parse(parse(readDeployFile('prometheus/prometheus-sd.yml'))).scrape_configs;
  const http = addresses.map((address) => ({ url: `http://${address}/sd`, refresh_interval: '1s' }));
  return [{ ...job, http_sd_configs: http }];
}
