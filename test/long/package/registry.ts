import { createHash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import type { TestContext } from 'node:test';
import { z } from 'zod';
import { readRepositoryFile } from '../../support/repository.ts';
import { serveHttp } from '../../support/servers.ts';
import { runNpm, type PackedPackage } from './packed-package.ts';

const lockSchema = z.object({
  packages: z.record(z.string(), z.looseObject({ version: z.string(), integrity: z.string().optional() })),
});

/**
 * Starts a registry of the packed package and of what the lock file has, and returns its URL. Each of the
 * latter has a newer version, too, which cannot be installed. Files that the cache of npm lacks come from the
 * registry of this machine.
 */
export async function startRegistry(t: TestContext, { folder, file, files }: PackedPackage): Promise<string> {
  const { packages } = lockSchema.parse(JSON.parse(readRepositoryFile('package-lock.json')));
  const archive = readFileSync(file);
  const outer = runNpm(folder, ['config', 'get', 'registry']).stdout.trim();

  const listVersions = (name: string, url: string): readonly (readonly [string, object])[] => {
    const ownIntegrity = `sha512-${createHash('sha512').update(archive).digest('base64')}`;
    const found = Object.entries(packages).filter(([path]) => path.endsWith(`node_modules/${name}`));
    const entries = name === 'xvs-exporter' ? Object.entries(packages).slice(0, 1) : found;
    return entries.flatMap(([path, entry]) => {
      const { version, integrity = ownIntegrity } = entry;
      const tarball = `${url}/${name}/-/${name.replace(/^.*\//, '')}-${version}.tgz`;
      // Registries add the last field.
      const _hasShrinkwrap = path === '' && files.some((packed) => packed.path === 'npm-shrinkwrap.json');
      const manifest = { ...entry, name, dist: { integrity, tarball }, _hasShrinkwrap };
      const newer = version.replace(/\d+$/, (patch) => `${Number(patch) + 1}`);
      const broken = { ...manifest, version: newer, dist: { tarball: `${url}/none` } };
      return path === ''
        ? [[version, manifest]]
        : [
            [version, manifest],
            [newer, broken],
          ];
    });
  };

  const url = await serveHttp(t, (request, response) => {
    const path = decodeURIComponent((request.url ?? '').slice(1));
    if (path.startsWith('xvs-exporter/-/')) response.end(archive);
    else if (path.includes('/-/')) response.writeHead(302, { location: new URL(path, outer).href }).end();
    else {
      const versions = listVersions(path, url);
      const latest = versions.at(-1)?.[0];
      response.statusCode = latest === undefined ? 404 : 200;
      const document = { name: path, 'dist-tags': { latest }, versions: Object.fromEntries(versions) };
      response.end(JSON.stringify(document));
    }
  });
  return url;
}
