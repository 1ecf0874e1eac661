import { readBuildInfo, type BuildInfo } from '../build-info.ts';
import { parseCommandLine } from '../config/command-line.ts';
import { ConfigurationSource } from '../config/configuration-source.ts';
import type { Configuration } from '../config/configuration.ts';
import { helpText } from '../config/help.ts';
import { ConfigError } from '../config/problem.ts';
import { maskedSummary } from '../config/summary.ts';
import type { Command, CommandIo } from './command.ts';

/** What a command has of its configuration. */
export interface Configured {
  readonly configuration: Configuration;
  /** Where it came from, to read it again. */
  readonly source: ConfigurationSource;
  readonly build: BuildInfo;
}

/**
 * A command that needs the configuration: reads it from flags, environment and file, answers `--help`,
 * `--version` and `--config.check`, and tells mistakes, with exit code 2, before anything runs.
 */
export function configured(run: (configured: Configured, io: CommandIo) => Promise<number>): Command {
  return async (args, io) => {
    const { stdout, stderr, environment, readFile } = io;
    const build = readBuildInfo(environment);
    let ready: Configured;
    try {
      const { flags, check, version, help } = parseCommandLine(args);
      if (help) return print(stdout, helpText());
      if (version)
        return print(
          stdout,
          `xvs-exporter ${build.version} (${build.revision}, Node.js ${build.nodeVersion})\n`,
        );
      const source = new ConfigurationSource({ flags, env: environment, readFile });
      const { configuration } = await source.load();
      if (check) return print(stdout, `${maskedSummary(configuration)}\n`);
      ready = { configuration, source, build };
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
