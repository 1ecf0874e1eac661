import { createExporter, type BuildInfo } from '../app.ts';
import { createProblem, formatValue, throwIfAny } from '../config/config-error.ts';
import type { Configuration } from '../config/configuration.ts';
import { observePoll } from '../diagnostics/observe-poll.ts';
import { isRejected } from '../diagnostics/remedies.ts';
import { formatReport } from '../diagnostics/report.ts';
import { Exposition } from '../metrics/exposition/exposition.ts';
import { openReaderPool } from '../poller/reader-module.ts';
import { MAX_TOTAL_RESPONSE_BYTES } from '../runtime/limits.ts';
import { createLogger } from '../runtime/logger.ts';
import { formatShard } from '../sharding/shard.ts';
import { UpstreamClient } from '../upstream/client.ts';
import { DecodingBudget } from '../upstream/body-limits.ts';
import { withConfiguration, type CommandIo } from './command.ts';
import type { CommandLine } from './command-line.ts';
import { trySigning } from './try-signing.ts';

/**
 * Polls every service code once and prints the exposition or, with `--explain`, a report of each poll. Exits
 * with 1 if a poll failed.
 */
export const once = withConfiguration(
  async ({ build, flags, warnings, ...loaded }, io) => {
    const configuration = selectServiceCodes(loaded.configuration, flags);
    const { serviceCodes, shard } = configuration;
    const { stdout, stderr, log, clock, signal } = io;
    for (const warning of warnings) stderr.write(`${warning}\n`);
    if (serviceCodes.length === 0) stderr.write(formatNoServiceCodes(shard));
    const isTryingSigning = flags.has('try-signing');
    if (isTryingSigning || flags.has('explain'))
      return await explainPolls(configuration, build, io, isTryingSigning);
    const logger = createLogger({ ...configuration.log, destination: log });
    await using exporter = createExporter(configuration, { clock, logger, log, build });
    await exporter.poller.pollOnce(signal);
    const { families } = await exporter.facade.collect();
    stdout.write(new Exposition().renderBody('everything', families, 'text').bytes);
    return exporter.store.states.every(({ isUp }) => isUp === true) ? 0 : 1;
  },
  { explain: 'switch', 'try-signing': 'switch', only: 'list' },
);

/** Keeps the service codes that `--only` names, or all without it. */
export function selectServiceCodes(
  configuration: Configuration,
  flags: CommandLine['others'],
): Configuration {
  const only = flags.get('only');
  if (only === undefined) return configuration;
  const { serviceCodes } = configuration;
  const known = serviceCodes.map(({ serviceCode }) => serviceCode);
  const unknown = only.filter((code) => !known.includes(code));
  throwIfAny(
    unknown.map((code) => {
      const remedy = configuration.codesOnOtherShards.has(code)
        ? 'another shard polls it; set shard.count to 1'
        : '--config.check lists them';
      return createProblem('flag --only', 'a configured service code', formatValue(code), remedy);
    }),
  );
  return {
    ...configuration,
    serviceCodes: serviceCodes.filter(({ serviceCode }) => only.includes(serviceCode)),
  };
}

/**
 * Polls the service codes one after the other and prints a report of each poll. Returns the exit code.
 *
 * @param isTryingSigning - after a rejection, also polls with other signatures
 */
export async function explainPolls(
  { upstream, signing, serviceCodes, metrics }: Configuration,
  build: BuildInfo,
  { stdout, clock, signal }: Pick<CommandIo, 'stdout' | 'clock' | 'signal'>,
  isTryingSigning = false,
): Promise<number> {
  await using client = new UpstreamClient({
    ...upstream,
    decodingBudget: new DecodingBudget(MAX_TOTAL_RESPONSE_BYTES),
    userAgent: `xvs-exporter/${build.version}`,
    clock,
  });
  const readers = openReaderPool(metrics.maxLabelSets);
  let failedCount = 0;
  for (const [index, target] of serviceCodes.entries()) {
    const poll = (scheme = signing) =>
      observePoll({ ...target, signing: scheme }, { client, readers, clock, signal });
    const observation = await poll();
    stdout.write(`${index === 0 ? '' : '\n'}${formatReport(observation, clock.now())}`);
    if (observation.fetched.error !== undefined) failedCount += 1;
    if (!isTryingSigning || !isRejected(observation)) continue;
    const result = await trySigning(
      signing,
      async (scheme) => (await poll(scheme)).fetched.error === undefined,
    );
    stdout.write(`  signatures    ${result}\n`);
  }
  return failedCount === 0 ? 0 : 1;
}

function formatNoServiceCodes(shard: Configuration['shard']): string {
  return shard.count === 1
    ? 'No service codes to poll: no file in service_code_files lists one.\n'
    : `No service codes to poll: ${formatShard(shard)} has none.\n`;
}
