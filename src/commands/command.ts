import { readFileSync } from 'node:fs';
import type { BuildInfo } from '../app.ts';
import { ConfigError } from '../config/config-error.ts';
import { findWarnings, type Configuration } from '../config/configuration.ts';
import { ConfigurationSource } from '../config/configuration-source.ts';
import type { ConfigFileSystem } from '../config/file-system.ts';
import { findUnknownVariables, findUnverifiedTls } from '../config/sources.ts';
import { formatConfigurationSummary } from '../config/summary.ts';
import { METRIC_LABELS } from '../metrics/catalogue.ts';
import { loadReaderModule, ReaderModuleError } from '../poller/reader-module.ts';
import type { Clock } from '../runtime/clock.ts';
import type { Logger } from '../runtime/logger.ts';
import type { LogOutput } from '../runtime/output.ts';
import { DatabaseError, importLevelDb } from '../state/level-database.ts';
import { findWebWarnings, loadWebConfiguration } from '../web/security/web-configuration-file.ts';
import { parseCommandLine, type CommandLine, type OwnFlags } from './command-line.ts';
import { formatHelp } from './help.ts';

export interface CommandIo {
  readonly stdout: { write(text: string | Uint8Array): void };
  /** For messages to the user. */
  readonly stderr: NodeJS.WritableStream;
  /** For log lines. */
  readonly log: LogOutput;
  readonly environment: Readonly<NodeJS.ProcessEnv>;
  readonly files: ConfigFileSystem;
  readonly hostName: () => string;
  readonly signal: AbortSignal;
  /** Sets the listener for reload signals; calls it immediately if there was one before. */
  readonly onReload: (listener: () => void) => void;
  /** Makes a rejection of the command, any uncaught error and each warning of Node.js a log line. */
  readonly reportTo: (logger: Logger) => void;
  readonly clock: Clock;
}

/** Runs until it has finished or the signal aborts, and returns the exit code. */
export type Command = (args: readonly string[], io: CommandIo) => Promise<number>;

export interface CommandConfiguration {
  readonly configuration: Configuration;
  /** Loads the configuration again. */
  readonly source: ConfigurationSource;
  readonly build: BuildInfo;
  /** Settings that are valid but probably not meant. */
  readonly warnings: readonly string[];
  /** The flags that are set and no settings. */
  readonly flags: CommandLine['others'];
}

/**
 * Handles `--help` and the like; exits with 2 on a `ConfigError`, without the reader's module, and without a
 * build of the database.
 */
export function withConfiguration(
  run: (configured: CommandConfiguration, io: CommandIo) => Promise<number>,
  own?: OwnFlags,
): Command {
  return async (args, io) => {
    const { stdout, stderr, environment, files, hostName, clock } = io;
    const build = readBuildInfo(environment);
    const unknownVariables = findUnknownVariables(environment);
    try {
      const { flags, others } = parseCommandLine(args, own);
      const print = (text: string): number => {
        stdout.write(text);
        return 0;
      };
      if (others.has('help')) return print(formatHelp());
      if (others.has('version')) return print(formatVersion(build));
      const source = new ConfigurationSource({
        flags,
        env: environment,
        hostName,
        metricLabels: METRIC_LABELS,
        ...files,
      });
      const loaded = await source.load();
      const { configuration } = loaded;
      const { configFile } = configuration.web;
      const web =
        configFile === undefined ? undefined : await loadWebConfiguration(configFile, files.readFile);
      io.signal.throwIfAborted();
      const webWarnings = web === undefined ? [] : findWebWarnings(web, clock.now());
      const warnings = [
        ...unknownVariables,
        ...findUnverifiedTls(environment),
        ...findWarnings(configuration, clock.now()),
        ...webWarnings,
      ];
      loadReaderModule();
      if (others.has('config.check')) {
        if (configuration.state?.isDefault === false) await importLevelDb();
        for (const warning of warnings) stderr.write(`${warning}\n`);
        return print(formatConfigurationSummary(loaded));
      }
      return await run({ configuration, source, build, warnings, flags: others }, io);
    } catch (error) {
      if (io.signal.aborted && error === io.signal.reason) return 0;
      const isUnsupported = error instanceof DatabaseError || error instanceof ReaderModuleError;
      if (!isUnsupported && !(error instanceof ConfigError)) throw error;
      // A misspelt variable is often the cause.
      for (const line of [...unknownVariables, error.message]) stderr.write(`${line}\n`);
      return 2;
    }
  };
}

/** The image has its revision in `XVS_EXPORTER_REVISION`, the npm package in `package.json`. */
function readBuildInfo(environment: CommandIo['environment']): BuildInfo {
  const [, program = ''] = process.argv;
  const url = new URL('../../package.json', import.meta.url);
  const {
    version,
    revision = 'unknown',
    runbook,
  }: Record<string, unknown> = JSON.parse(readFileSync(url, 'utf8'));
  return {
    version: String(version),
    revision: environment['XVS_EXPORTER_REVISION'] ?? String(revision),
    nodeVersion: process.version,
    command: program.endsWith('.js') ? ['node', program] : ['xvs-exporter'],
    runbookUrl: String(runbook),
  };
}

/** A clone has no revision. */
function formatVersion({ version, revision, nodeVersion }: BuildInfo): string {
  const prefix = revision === 'unknown' ? '' : `${revision}, `;
  return `xvs-exporter ${version} (${prefix}Node.js ${nodeVersion})\n`;
}
