import { readFileSync } from 'node:fs';
import type { BuildInfo } from '../app.ts';
import { ConfigError } from '../config/config-error.ts';
import { findWarnings, type Configuration } from '../config/configuration.ts';
import { ConfigurationSource } from '../config/configuration-source.ts';
import { formatConfigurationSummary } from '../config/summary.ts';
import { findUnknownVariables, formatUnknownVariables, type UnknownVariable } from '../config/sources.ts';
import { loadReaderModule, ReaderModuleError } from '../poller/reader-module.ts';
import { raceAbort } from '../runtime/abort.ts';
import { loadWebConfiguration } from '../web/security/web-configuration-file.ts';
import type { Command, CommandIo, Output } from './command.ts';
import { parseCommandLine, type CommandLine, type OwnFlags } from './command-line.ts';
import { formatHelp } from './help.ts';

/** The context that {@link withConfiguration} passes to a command. */
export interface CommandConfiguration {
  readonly configuration: Configuration;
  /** Loads the configuration again. */
  readonly source: ConfigurationSource;
  readonly build: BuildInfo;
  /** Variables of the environment that are probably misspelt. */
  readonly unknownVariables: readonly UnknownVariable[];
  /** The flags that are set and no settings. */
  readonly flags: CommandLine['others'];
}

/**
 * Wraps a command that needs the configuration. Loads it from flags, environment and file, handles `--help`, `--version`
 * and `--config.check`, and reports each `ConfigError` with exit code 2. Without the reader's module, the exit code is 1.
 *
 * @param own - the flags and the help of the command
 */
export function withConfiguration(
  run: (configured: CommandConfiguration, io: CommandIo) => Promise<number>,
  own: { readonly flags?: OwnFlags; readonly help: string } = { help: formatHelp() },
): Command {
  return async (args, io) => {
    const { stdout, stderr, environment, files, hostName } = io;
    const build = readBuildInfo(environment);
    const unknownVariables = findUnknownVariables(environment);
    try {
      const { flags, others } = parseCommandLine(args, own.flags);
      if (others.has('help')) return writeText(stdout, own.help);
      if (others.has('version')) return writeText(stdout, formatVersion(build));
      const source = new ConfigurationSource({ flags, env: environment, hostName, ...files });
      // A file system that hangs must not delay the end.
      const loaded = await raceAbort(source.load(), io.signal);
      const { configuration } = loaded;
      const { configFile } = configuration.web;
      if (configFile !== undefined)
        await raceAbort(loadWebConfiguration(configFile, files.readFile), io.signal);
      if (others.has('config.check')) {
        stderr.write(formatUnknownVariables(unknownVariables));
        for (const warning of findWarnings(configuration)) stderr.write(`${warning}\n`);
        return writeText(stdout, formatConfigurationSummary(loaded));
      }
      loadReaderModule();
      return await run({ configuration, source, build, unknownVariables, flags: others }, io);
    } catch (error) {
      if (io.signal.aborted && error === io.signal.reason) return 0;
      if (!(error instanceof ConfigError || error instanceof ReaderModuleError)) throw error;
      // A misspelt variable is often the cause.
      stderr.write(`${formatUnknownVariables(unknownVariables)}${error.message}\n`);
      return error instanceof ConfigError ? 2 : 1;
    }
  };
}

/** Reads version and runbook from `package.json`, the revision from `XVS_EXPORTER_REVISION`. */
function readBuildInfo(environment: CommandIo['environment']): BuildInfo {
  const [, program = ''] = process.argv;
  const url = new URL('../../package.json', import.meta.url);
  const { version, runbook }: Record<string, unknown> = JSON.parse(readFileSync(url, 'utf8'));
  return {
    version: String(version),
    revision: environment['XVS_EXPORTER_REVISION'] ?? 'unknown',
    nodeVersion: process.version,
    command: program.endsWith('.js') ? ['node', program] : ['xvs-exporter'],
    runbookUrl: String(runbook),
  };
}

function writeText(stream: Output, text: string): number {
  stream.write(text);
  return 0;
}

/** Only the image has a revision. */
function formatVersion({ version, revision, nodeVersion }: BuildInfo): string {
  const prefix = revision === 'unknown' ? '' : `${revision}, `;
  return `xvs-exporter ${version} (${prefix}Node.js ${nodeVersion})\n`;
}
