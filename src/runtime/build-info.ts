import { readFileSync } from 'node:fs';

export interface BuildInfo {
  readonly version: string;
  /** Git revision; `unknown` outside the image. */
  readonly revision: string;
  readonly nodeVersion: string;
  /** How the process was started, without arguments: `xvs-exporter`, or Node.js and the path of the program. */
  readonly command: readonly string[];
  /** Sections are named after alerts. */
  readonly runbookUrl: string;
}

/** Reads version and runbook from `package.json`, the revision from `XVS_EXPORTER_REVISION`. */
export function readBuildInfo(environment: Readonly<NodeJS.ProcessEnv>): BuildInfo {
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
