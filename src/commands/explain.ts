import type { BuildInfo } from '../build-info.ts';
import type { Configuration } from '../config/configuration.ts';
import { observe } from '../explain/observe.ts';
import { explanation } from '../explain/report.ts';
import { nameOf } from '../sharding/shard.ts';
import { UpstreamClient } from '../upstream/client.ts';
import type { CommandIo } from './command.ts';

/**
 * Polls the service codes one after the other and prints what was to be seen of each: for people, who want to know
 * why one fails. Gives the exit code: 1 if one of them failed.
 */
export async function explainPolls(
  { upstream, signing, serviceCodes, shard }: Configuration,
  build: BuildInfo,
  { stdout, clock, signal }: Pick<CommandIo, 'stdout' | 'clock' | 'signal'>,
): Promise<number> {
  await using client = new UpstreamClient({
    ...upstream,
    userAgent: `xvs-exporter/${build.version}`,
    clock,
  });
  if (serviceCodes.length === 0) stdout.write(`No service code is polled by ${nameOf(shard)}.\n`);
  let failed = 0;
  for (const [index, target] of serviceCodes.entries()) {
    const seen = await observe({ ...target, signing }, { client, clock, signal });
    stdout.write(`${index === 0 ? '' : '\n'}${explanation(seen, clock.now())}`);
    if (seen.failure !== undefined) failed += 1;
  }
  return failed === 0 ? 0 : 1;
}
