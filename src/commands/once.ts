import { randomBytes } from 'node:crypto';
import { createExporter, toClientOptions, toPolledCodes, type BuildInfo } from '../app.ts';
import { ConfigError, createProblem, formatValue, throwIfAny } from '../config/config-error.ts';
import type { Configuration } from '../config/configuration.ts';
import { parseDuration } from '../config/units.ts';
import { observePoll, type Observation } from '../diagnostics/observe-poll.ts';
import { formatReport } from '../diagnostics/report.ts';
import { renderBlocks } from '../metrics/exposition.ts';
import { createTally } from '../poller/poller.ts';
import { openReaderPool, READER_KEY_BYTES } from '../poller/reader-module.ts';
import { readInstant } from '../runtime/instant.ts';
import { createLogger } from '../runtime/logger.ts';
import { formatShard } from '../sharding/shard.ts';
import { withConfiguration, type CommandIo } from './command.ts';
import type { CommandLine } from './command-line.ts';

/** Polls every service code once and prints the exposition or, with `--explain`, reports; 1 on failure. */
export const once = withConfiguration(
  async ({ build, flags, warnings, ...loaded }, io) => {
    const configuration = selectServiceCodes(loaded.configuration, flags);
    const { serviceCodes, shard } = configuration;
    const { stdout, stderr, log, clock, signal, reportTo } = io;
    for (const warning of warnings) stderr.write(`${warning}\n`);
    if (serviceCodes.length === 0) stderr.write(formatNoServiceCodes(shard));
    const forMs = readDuration(flags);
    if (flags.has('explain') || forMs !== undefined)
      return await explainPolls(configuration, build, io, forMs);
    const logger = createLogger({ ...configuration.log, destination: log });
    reportTo(logger);
    const stateless = { ...configuration, state: undefined };
    await using exporter = createExporter(stateless, { clock, logger, log, build });
    await exporter.poller.pollOnce(signal);
    const families = await exporter.facade.collect('everything', 'total');
    for (const block of renderBlocks(families, 'text')) stdout.write(block);
    return exporter.store.states.every(({ failure }) => failure === undefined) ? 0 : 1;
  },
  { explain: 'switch', for: 'value', only: 'list' },
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

export function readDuration(flags: CommandLine['others']): number | undefined {
  const [text] = flags.get('for') ?? [];
  if (text === undefined) return undefined;
  const ms = parseDuration(text) ?? 0;
  if (ms > 0) return ms;
  throw new ConfigError([createProblem('flag --for', 'a duration such as 30s', formatValue(text))]);
}

/**
 * Polls the service codes one after the other, with `forMs` a code with expected names twice, so far apart,
 * and prints a report of each. Returns the exit code.
 */
export async function explainPolls(
  configuration: Configuration,
  build: BuildInfo,
  { stdout, clock, signal }: Pick<CommandIo, 'stdout' | 'clock' | 'signal'>,
  forMs?: number,
): Promise<number> {
  const { upstream, metrics, ledger } = configuration;
  const clientOptions = toClientOptions(upstream, build);
  const readers = openReaderPool(metrics.maxLabelSets, randomBytes(READER_KEY_BYTES));
  let failedCount = 0;
  for (const [index, code] of toPolledCodes(configuration).entries()) {
    const poll = () => observePoll(code, { clientOptions, readers, clock, signal });
    const tally = createTally(code, { ...metrics, ...ledger, perTask: false });
    tally.expectation = code.expectation;
    const count = ({ fetched }: Observation) => {
      if (fetched.error !== undefined) return [];
      return tally.commit(fetched.listing, readInstant(clock)).snapshot.expectedTasks;
    };
    let observation = await poll();
    let expectedTasks = count(observation);
    if (forMs !== undefined && expectedTasks.length > 0) {
      await clock.sleep(forMs, signal);
      observation = await poll();
      expectedTasks = count(observation);
    }
    const report = formatReport(observation, clock.now(), expectedTasks);
    stdout.write(`${index === 0 ? '' : '\n'}${report}`);
    if (observation.fetched.error !== undefined) failedCount += 1;
  }
  return failedCount === 0 ? 0 : 1;
}

function formatNoServiceCodes(shard: Configuration['shard']): string {
  return shard.count === 1
    ? 'No service codes to poll: no file in service_code_files lists one.\n'
    : `No service codes to poll: ${formatShard(shard)} has none.\n`;
}
