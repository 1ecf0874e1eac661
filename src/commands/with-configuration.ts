import { readBuildInfo, type BuildInfo } from '../build-info.ts';
import { parseCommandLine } from '../config/command-line.ts';
import { ConfigurationSource } from '../config/configuration-source.ts';
import type { Configuration } from '../config/configuration.ts';
import { helpText } from '../config/help.ts';
import { ConfigError } from '../config/problem.ts';
import { summary } from '../config/summary.ts';
import { loadWebConfiguration } from '../web/config/web-configuration.ts';
import type { Command, CommandIo } from './command.ts';

/** What a command has of its configuration. */
export interface Configured {
  readonly configuration: Configuration;
  /** Where it came from, to read it again. */
  readonly source: ConfigurationSource;
  readonly build: BuildInfo;
  /** The switches of the command's own that are set. */
  readonly switches: ReadonlySet<string>;
}

/**
 * A command that needs the configuration: reads it from flags, environment and file, answers `--help`,
 * `--version` and `--config.check`, and tells mistakes, with exit code 2, before anything runs.
 */
export function configured(
  run: (configured: Configured, io: CommandIo) => Promise<number>,
  ownSwitches: readonly string[] = [],
): Command {
  return async (args, io) => {
    const { stdout, stderr, environment, files, hostName } = io;
    const build = readBuildInfo(environment);
    let ready: Configured;
    try {
      const { flags, check, version, help, switches } = parseCommandLine(args, ownSwitches);
      if (help) return print(stdout, helpText());
      if (version) return print(stdout, versionLine(build));
      const source = new ConfigurationSource({ flags, env: environment, hostName, ...files });
      const loaded = await source.load();
      const { configFile } = loaded.configuration.web;
      if (configFile !== undefined) await loadWebConfiguration(configFile, files.readFile);
      if (check) return print(stdout, summary(loaded));
      ready = { configuration: loaded.configuration, source, build, switches };
    } catch (error) {
      if (!(error instanceof ConfigError)) throw error;
      stderr.write(`${error.message}\n`);
      return 2;
    }
    return await run(ready, io);
  };
}

function print(stream: NodeJS.WritableStream, text: string): number {
  stream.write(text);
  return 0;
}

/** The revision is known in the image alone. */
function versionLine({ version, revision, nodeVersion }: BuildInfo): string {
  const built = revision === 'unknown' ? '' : `${revision}, `;
  return `xvs-exporter ${version} (${built}Node.js ${nodeVersion})\n`;
}
