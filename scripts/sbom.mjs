// Prints an SBOM (CycloneDX) of the shipped packages. `npm sbom --omit=dev` also omits production packages
// that development dependencies need (npm 11: yaml and zod), so npm runs on a copy of the project without
// development dependencies.
import { spawnSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

const root = fileURLToPath(new URL('..', import.meta.url));
const read = (name) => JSON.parse(readFileSync(join(root, name), 'utf8'));
const work = mkdtempSync(join(tmpdir(), 'xvs-sbom-'));
try {
  // npm names the root component after its folder.
  const folder = join(work, 'xvs-exporter');
  mkdirSync(folder);
  const lock = read('package-lock.json');
  const shipped = Object.entries(lock.packages).filter(([, { dev }]) => dev !== true);
  const packages = Object.fromEntries(shipped);
  const { devDependencies: _ofLock, ...own } = packages[''];
  const { devDependencies: _ofManifest, ...manifest } = read('package.json');
  writeFileSync(join(folder, 'package.json'), JSON.stringify(manifest));
  writeFileSync(
    join(folder, 'package-lock.json'),
    JSON.stringify({ ...lock, packages: { ...packages, '': own } }),
  );
  const args = ['sbom', '--sbom-format=cyclonedx', '--sbom-type=application', '--package-lock-only'];
  process.exitCode = spawnSync('npm', args, { cwd: folder, stdio: 'inherit' }).status ?? 1;
} finally {
  rmSync(work, { recursive: true });
}
