import { readBuildInfo, type BuildInfo } from '../build-info.ts';
import { parseCommandLine } from '../config/command-line.ts';
import type { Configuration } from '../config/configuration.ts';
import { helpText } from '../config/help.ts';
import { loadConfiguration } from '../config/loading.ts';
import { ConfigError } from '../config/problem.ts';
import { maskedSummary } from '../config/summary.ts';
import { loadWebConfiguration } from '../web/config/web-configuration.ts';
import type { Command, CommandIo } from './command.ts';

/**
 * A command that needs the configuration: reads it from flags, environment and file, answers `--help`,
 * `--version` and `--config.check`, and tells mistakes, with exit code 2, before anything runs.
 */
export function configured(
  run: (configuration: Configuration, build: BuildInfo, io: CommandIo) => Promise<number>,
): Command {
  return async (args, io) => {
    const { stdout, stderr, environment, readFile } = io;
    const build = readBuildInfo(environment);
    let configuration: Configuration;
    try {
      const { flags, check, version, help } = parseCommandLine(args);
      if (help) return print(stdout, helpText());
      if (version)
        return print(
          stdout,
          `xvs-exporter ${build.version} (${build.revision}, Node.js ${build.nodeVersion})\n`,
        );
      configuration = await loadConfiguration({ flags, env: environment, readFile });
      const { configFile } = configuration.web;
      if (configFile !== undefined) await loadWebConfiguration(configFile, readFile);
      if (check) return print(stdout, `${maskedSummary(configuration)}\n`);
    } catch (error) {
      if (!(error instanceof ConfigError)) throw error;
      stderr.write(`${error.message}\n`);
      return 2;
    }
    return await run(configuration, build, io);
  };
}

function print(stream: NodeJS.WritableStream, text: string): number {
  stream.write(text);
  return 0;
}
