import { readFileSync } from 'node:fs';

export interface BuildInfo {
  readonly version: string;
  /** Git revision; `unknown` outside the image. */
  readonly revision: string;
  readonly nodeVersion: string;
}

/** Reads the version from `package.json`, the revision from `XVS_EXPORTER_REVISION`. */
export function readBuildInfo(environment: Readonly<NodeJS.ProcessEnv>): BuildInfo {
  const manifest: unknown = JSON.parse(readFileSync(new URL('../../package.json', import.meta.url), 'utf8'));
  const version =
    typeof manifest === 'object' && manifest !== null && 'version' in manifest
      ? String(manifest.version)
      : 'unknown';
  return {
    version,
    revision: environment['XVS_EXPORTER_REVISION'] ?? 'unknown',
    nodeVersion: process.version,
  };
}
