import assert from 'node:assert/strict';
import { lstatSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join, relative } from 'node:path';
import { after, describe, test } from 'node:test';
import { z } from 'zod';
import { readRepositoryFile, repositoryPath } from '../../../support/repository.ts';
import { startSimulatorProgram } from '../../../support/simulator-program.ts';
import { Buildah } from './buildah.ts';
import { buildImages, type BuiltImage } from './built-image.ts';
import { ContainerProcess, type ContainerRun } from './container.ts';
import { writeSeccompProfile } from './seccomp.ts';

const VERSION = '1.2.3';
const REVISION = '0a1b2c3';
const SECRET = 'abc';
const PROJECT = z
  .object({ home: z.string(), repository: z.string() })
  .parse(JSON.parse(readRepositoryFile('project.json')));

const STATE_FOLDER = 'var/lib/xvs-exporter';

/** Mount points of Buildah, which creates those that the image lacks. */
const MOUNT_POINTS = /^(dev|proc|run|sys|etc\/(hostname|hosts|resolv\.conf))($|\/)/;

const lockFile = z.object({
  packages: z.record(
    z.string(),
    z.object({
      version: z.string(),
      dev: z.boolean().optional(),
      os: z.array(z.string()).default(['linux']),
      cpu: z.array(z.string()).default([process.arch]),
      libc: z.array(z.string()).default(['glibc']),
    }),
  ),
});

const buildah = new Buildah();
after(() => buildah[Symbol.dispose]());
const images = buildImages(buildah, VERSION, REVISION);

test('the Debian image adds only Node.js, libatomic and the program to its base', () => {
  const debian = getImage('debian');
  const before = new Set(listFiles(debian.debian).map(({ path }) => path));
  const added = listFiles(debian.files)
    .map(({ path }) => path)
    // Ignore files of apt, package documentation and the mount point of Buildah.
    .filter((path) => !before.has(path) && !/^(var\/|usr\/share\/doc\/|etc\/hosts$)/.test(path))
    .filter((path) => !path.startsWith('opt/xvs-exporter/'));
  const library = added.filter((path) => /^usr\/lib\/[\w-]+\/libatomic\.so\.1(\.\d+)*$/.test(path));
  assert.equal(library.length, 2);
  assert.deepEqual(added.filter((path) => !library.includes(path)).toSorted(), [
    'etc/xvs-exporter',
    'opt/xvs-exporter',
    'usr/local/bin/node',
  ]);
});

test('the distroless image has no shell and no package manager, lists its packages, and is smaller than Debian', () => {
  const { files } = getImage('distroless');
  const paths = listFiles(files).map(({ path }) => path);
  assert.deepEqual(
    paths.filter((path) => /(^|\/)s?bin\//.test(path)),
    ['usr/bin/prlimit', 'usr/local/bin/node'],
  );
  const packages = paths.filter((path) => path.startsWith('var/lib/dpkg/status.d/'));
  assert.ok(packages.includes('var/lib/dpkg/status.d/libc6'));
  assert.match(readFileSync(join(files, packages[0] ?? ''), 'utf8'), /^Version: \S+$/m);
  assert.ok(sumSizes(files) < sumSizes(getImage('debian').files));
});

test('the stage of the simulator is an image that simulates the service', async () => {
  const tag = 'localhost/xvs-simulator';
  buildah.build(
    tag,
    repositoryPath('Dockerfile'),
    repositoryPath(),
    '--target=simulator',
    '--build-arg=NODE_DIGEST=',
  );
  const container = buildah.run('from', '--pull-never', tag);
  const argv = ['node', '/src/build/test/simulator/main.js', '--listen-address=127.0.0.1:0'];
  await using simulator = new ContainerProcess(buildah, container, argv);
  const { status } = await fetch(`${await simulator.program.waitForUrl()}/-/faults`);
  assert.equal(status, 200);
  assert.equal(await simulator.stop('SIGTERM'), 0, simulator.program.stderr);
});

// These tests run last, because containers create mount points in the file systems.
for (const image of images) describe(`the image on ${image.base}`, () => testImage(image));

function getImage(base: BuiltImage['base']): BuiltImage {
  const image = images.find((candidate) => candidate.base === base);
  assert.ok(image !== undefined);
  return image;
}

/** The configuration of README.md, and what its `docker run` mounts and passes to the program. */
function readDocumentedRun() {
  const readme = readRepositoryFile('README.md');
  const [, configuration = ''] = /^```yaml\n(upstream:.*?)^```$/ms.exec(readme) ?? [];
  const [, volume = '', args = ''] =
    /^docker run .* --volume [^:]+:(\S+) xvs-exporter (.*)$/m.exec(readme) ?? [];
  return { configuration, volume, args: args.split(' ') };
}

/** Lists all files and folders below a folder, by their paths without a leading slash. */
function listFiles(root: string) {
  return readdirSync(root, { recursive: true, withFileTypes: true }).map((entry) => {
    const full = join(entry.parentPath, entry.name);
    const { uid, mode, size, mtimeMs } = lstatSync(full);
    return { path: relative(root, full), uid, mode, state: entry.isDirectory() ? '' : `${size} ${mtimeMs}` };
  });
}

/** Returns the total size of all files in a folder in bytes. */
function sumSizes(folder: string): number {
  return listFiles(folder).reduce((sum, { path }) => sum + lstatSync(join(folder, path)).size, 0);
}

function testImage(image: BuiltImage): void {
  const { config, container, files } = image;
  const startContainer = (args: readonly string[], run?: ContainerRun): ContainerProcess =>
    new ContainerProcess(buildah, container, [...config.Entrypoint, ...args], run);

  test('its configuration has user, entrypoint, port, healthcheck and labels', () => {
    const { Labels: labels, Healthcheck: health, ExposedPorts: ports } = config;
    assert.equal(config.User, '65532:65532');
    assert.deepEqual(config.Entrypoint, ['node', '--disable-sigusr1', '/opt/xvs-exporter/dist/main.js']);
    assert.equal(config.WorkingDir, '/etc/xvs-exporter');
    assert.deepEqual(Object.keys(ports), ['20928/tcp']);
    assert.deepEqual(health.Test, ['CMD', ...config.Entrypoint, 'healthcheck']);
    assert.deepEqual(
      config.Env.filter((variable) => !variable.startsWith('PATH=')),
      ['NODE_ENV=production', 'STATE_DIRECTORY=/var/lib/xvs-exporter', `XVS_EXPORTER_REVISION=${REVISION}`],
    );
    assert.deepEqual(
      Object.entries(labels).filter(([name]) => name.startsWith('org.opencontainers.image.')),
      [
        [
          'org.opencontainers.image.description',
          'Prometheus exporter for a live-video streaming and transcoding service',
        ],
        ['org.opencontainers.image.licenses', 'Apache-2.0'],
        ['org.opencontainers.image.revision', REVISION],
        ['org.opencontainers.image.source', PROJECT.repository],
        ['org.opencontainers.image.title', 'xvs-exporter'],
        ['org.opencontainers.image.url', PROJECT.home],
        ['org.opencontainers.image.version', VERSION],
      ],
    );
  });

  test('the program folder contains only code, licence and production packages, without empty folders', () => {
    const home = join(files, 'opt/xvs-exporter');
    const paths = listFiles(home).map(({ path }) => path);
    assert.deepEqual(paths.filter((path) => !path.includes('/')).toSorted(), [
      'LICENSE',
      'dist',
      'node_modules',
      'package.json',
    ]);
    assert.deepEqual(
      paths.filter((path) => /^dist\/.*\.(?!(?:js|wasm)$)\w+$/.test(path)),
      [],
    );
    const { packages } = lockFile.parse(JSON.parse(readRepositoryFile('package-lock.json')));
    // Packages for other platforms are optional dependencies and not installed.
    const wanted = Object.entries(packages).filter(
      ([path, { dev, os, cpu, libc }]) =>
        path !== '' &&
        dev !== true &&
        os.includes('linux') &&
        cpu.includes(process.arch) &&
        libc.includes('glibc'),
    );
    for (const [path, { version }] of wanted) {
      const manifest: unknown = JSON.parse(readFileSync(join(home, path, 'package.json'), 'utf8'));
      assert.equal(z.object({ version: z.string() }).parse(manifest).version, version, path);
    }
    const installed = paths.filter((path) => /^node_modules\/(@[^/]+\/)?[^/@.][^/]*$/.test(path)).toSorted();
    assert.deepEqual(
      installed,
      wanted
        .map(([path]) => path)
        .filter((path) => path.split('node_modules').length === 2)
        .toSorted(),
    );
  });

  test('only the empty folder of the state belongs to its user, and no added file is setuid or setgid', () => {
    const all = listFiles(files);
    assert.deepEqual(
      all.filter(({ uid }) => uid === 65_532).map(({ path }) => path),
      [STATE_FOLDER],
    );
    const known = new Set(listFiles(image.debian).map(({ path }) => path));
    assert.deepEqual(
      all.filter(({ path, mode }) => (mode & 0o6000) !== 0 && !known.has(path)),
      [],
    );
  });

  test('it polls, serves scrapes and passes the healthcheck without capabilities, writes only its state, and exits with 0', async () => {
    const before = listFiles(files);
    await using service = startSimulatorProgram(
      `--service-code=TESTING:${SECRET}`,
      '--users=20',
      '--tasks=5',
    );
    const { configuration, volume, args } = readDocumentedRun();
    const folder = buildah.path('configuration');
    mkdirSync(folder, { recursive: true });
    writeFileSync(join(folder, 'config.yml'), configuration);
    writeFileSync(join(folder, 'testing.secret'), `${SECRET}\n`);
    const env = { XVS_UPSTREAM_BASE_URL: await service.waitForUrl(), XVS_WEB_LISTEN_ADDRESS: '127.0.0.1:0' };
    await using exporter = startContainer(args, { env, volume: `${folder}:${volume}` });
    const address = `127.0.0.1:${await exporter.program.waitForPort()}`;
    await exporter.program.waitForOutput(/Poll succeeded/);

    const scraped = await (await fetch(`http://${address}/metrics`)).text();
    assert.match(scraped, /^xvs_up\{service_code="TESTING"\} 1$/m);
    assert.match(scraped, /^xvs_exporter_state_open 1$/m);
    assert.match(scraped, new RegExp(`^xvs_exporter_build_info\\{.*revision="${REVISION}".*\\} 1$`, 'm'));
    const status = readFileSync(`/proc/${await exporter.findNodePid()}/status`, 'utf8');
    assert.match(status, /^Uid:(\s+65532){4}$/m);
    assert.match(status, /^Gid:(\s+65532){4}$/m);
    assert.match(status, /^CapEff:\s+0+$/m);

    const health = { env: { XVS_WEB_LISTEN_ADDRESS: address } };
    const command = config.Healthcheck.Test.slice(1 + config.Entrypoint.length);
    await using healthy = startContainer(command, health);
    assert.equal(await healthy.program.exitCode, 0, healthy.program.stderr);
    assert.equal(await exporter.stop('SIGTERM'), 0, exporter.program.stderr);
    await using unhealthy = startContainer(command, health);
    assert.equal(await unhealthy.program.exitCode, 1);
    // Buildah creates the mount points, not the program.
    const known = new Set(before.map((file) => JSON.stringify(file)));
    const written = listFiles(files).filter((file) => !known.has(JSON.stringify(file)));
    assert.deepEqual(
      written
        .map(({ path }) => path)
        .filter((path) => !MOUNT_POINTS.test(path) && !path.startsWith(`${STATE_FOLDER}/`)),
      [],
    );
  });

  test('it polls with the system calls that the systemd unit allows', async () => {
    const profile = writeSeccompProfile(buildah);
    const confined = buildah.run('from', '--pull-never', '--security-opt', `seccomp=${profile}`, image.tag);
    const command = (argv: readonly string[], run?: ContainerRun): ContainerProcess =>
      new ContainerProcess(buildah, confined, argv, run);

    // The filter is active: without it, a process may raise its nice value.
    await using denied = command(['node', '--eval', 'os.setPriority(5)']);
    assert.notEqual(await denied.program.exitCode, 0);
    assert.match(denied.program.stderr, /EPERM/);

    await using service = startSimulatorProgram(
      `--service-code=TESTING:${SECRET}`,
      '--users=20',
      '--tasks=5',
    );
    const env = {
      XVS_UPSTREAM_BASE_URL: await service.waitForUrl(),
      XVS_SERVICE_CODES: 'TESTING',
      XVS_SECRET: SECRET,
      XVS_WEB_LISTEN_ADDRESS: '127.0.0.1:0',
    };
    await using exporter = command(config.Entrypoint, { env });
    await exporter.program.waitForOutput(/Poll succeeded/);
    assert.match(exporter.program.stderr, /State restored/);
    assert.equal(await exporter.stop('SIGTERM'), 0, exporter.program.stderr);
  });
}
