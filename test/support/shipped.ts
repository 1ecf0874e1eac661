import { parse } from 'yaml';
import { z } from 'zod';
import { readRepositoryFile } from './repository.ts';

/** The options of Node.js and the memory limit that chart, Compose and systemd ship. */
export const SHIPPED = z
  .object({
    nodeOptions: z.string(),
    resources: z.object({ limits: z.object({ memory: z.string().regex(/^\d+Mi$/) }) }),
  })
  .transform(({ nodeOptions, resources }) => ({
    nodeFlags: nodeOptions.split(' '),
    memoryMiB: Number.parseInt(resources.limits.memory, 10),
  }))
  .parse(parse(readRepositoryFile('deploy/helm/xvs-exporter/values.yaml')));
