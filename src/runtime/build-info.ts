import { readFileSync } from 'node:fs';

/** What this program is. */
export interface BuildInfo {
  readonly version: string;
  /** Revision of the source; `unknown` outside the image. */
  readonly revision: string;
  readonly nodeVersion: string;
}

/** Reads the version from the package, which stands one folder above the compiled program. */
export function readBuildInfo(environment: Readonly<NodeJS.ProcessEnv>): BuildInfo {
  const manifest: unknown = JSON.parse(readFileSync(new URL('../package.json', import.meta.url), 'utf8'));
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
