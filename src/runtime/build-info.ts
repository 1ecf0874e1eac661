import { readFileSync } from 'node:fs';

export interface BuildInfo {
  readonly version: string;
  /** Git revision; `unknown` outside the image. */
  readonly revision: string;
  readonly nodeVersion: string;
  /** Sections are named after alerts. */
  readonly runbookUrl: string;
}

/** Reads version and runbook from `package.json`, the revision from `XVS_EXPORTER_REVISION`. */
export function readBuildInfo(environment: Readonly<NodeJS.ProcessEnv>): BuildInfo {
  const url = new URL('../../package.json', import.meta.url);
  const { version, runbook }: Record<string, unknown> = JSON.parse(readFileSync(url, 'utf8'));
  return {
    version: String(version),
    revision: environment['XVS_EXPORTER_REVISION'] ?? 'unknown',
    nodeVersion: process.version,
    runbookUrl: String(runbook),
  };
}
