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
  const manifest: unknown = JSON.parse(readFileSync(new URL('../../package.json', import.meta.url), 'utf8'));
  const readField = (name: string): string => {
    const field: unknown = Object.entries(Object(manifest)).find(([key]) => key === name)?.[1];
    return typeof field === 'string' ? field : 'unknown';
  };
  return {
    version: readField('version'),
    revision: environment['XVS_EXPORTER_REVISION'] ?? 'unknown',
    nodeVersion: process.version,
    runbookUrl: readField('runbook'),
  };
}
