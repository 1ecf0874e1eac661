import { readBuildInfo, type BuildInfo } from '../build-info.ts';
import { parseCommandLine } from '../config/command-line.ts';
import type { Configuration } from '../config/configuration.ts';
import { helpText } from '../config/help.ts';
import { loadWithOrigins } from '../config/loading.ts';
import { ConfigError } from '../config/problem.ts';
import { summary } from '../config/summary.ts';
import type { Command, CommandIo } from './command.ts';

/** What a command does once it has its configuration; `switches` are those of its own that are set. */
type Run = (
  configuration: Configuration,
  build: BuildInfo,
  io: CommandIo,
  switches: ReadonlySet<string>,
) => Promise<number>;

/**
 * A command that needs the configuration: reads it from flags, environment and file, answers `--help`,
 * `--version` and `--config.check`, and tells mistakes, with exit code 2, before anything runs.
 */
export function configured(run: Run, ownSwitches: readonly string[] = []): Command {
  return async (args, io) => {
    const { stdout, stderr, environment, readFile } = io;
    const build = readBuildInfo(environment);
    let configuration: Configuration;
    let switches: ReadonlySet<string>;
    try {
      const { flags, check, version, help, ...commandLine } = parseCommandLine(args, ownSwitches);
      ({ switches } = commandLine);
      if (help) return print(stdout, helpText());
      if (version) return print(stdout, versionLine(build));
      const loaded = await loadWithOrigins({ flags, env: environment, readFile });
      if (check) return print(stdout, summary(loaded));
      ({ configuration } = loaded);
    } catch (error) {
      if (!(error instanceof ConfigError)) throw error;
      stderr.write(`${error.message}\n`);
      return 2;
    }
    return await run(configuration, build, io, switches);
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
