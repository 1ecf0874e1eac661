// Pins the base images of the Dockerfile by digest: reads the digest of each tag from the registry with skopeo, and writes
// it into the `ARG …_DIGEST` after the tag. Run it to update the digests.
//
//   node scripts/pin-base-images.mjs                 writes the digests
//   node scripts/pin-base-images.mjs --check         asks no registry; fails if a digest is missing
//   node scripts/pin-base-images.mjs --file=PATH     for another Dockerfile
import { spawnSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { readFileSync, writeFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';

const { values: options } = parseArgs({
  options: {
    check: { type: 'boolean', default: false },
    file: { type: 'string', default: fileURLToPath(new URL('../Dockerfile', import.meta.url)) },
  },
});

/** The tags of the base images by the arguments of their digests. */
function listImages(dockerfile) {
  const values = new Map(
    [...dockerfile.matchAll(/^ARG (\w+)=(\S*)$/gm)].map(([, name, value]) => [name, value]),
  );
  const pattern = /^FROM (?:--\S+ )?(\S+?)\$\{(\w+_DIGEST)\}/gm;
  return [...dockerfile.matchAll(pattern)].map(([, tag, argument]) => ({
    argument,
    digest: values.get(argument) ?? '',
    image: tag.replaceAll(/\$\{(\w+)\}/g, (_, name) => values.get(name) ?? ''),
  }));
}

/** Reads the digest of a tag, which is that of its manifest, a list with one entry for each platform. */
function resolveDigest(image) {
  const args = ['inspect', '--raw', `docker://${image}`];
  const { status, stdout, stderr, error } = spawnSync('skopeo', args);
  if (status !== 0) {
    throw new Error(`Expected skopeo to find ${image}, found: ${error?.message ?? String(stderr).trim()}`);
  }
  return `@sha256:${createHash('sha256').update(stdout).digest('hex')}`;
}

const text = readFileSync(options.file, 'utf8');
const images = listImages(text);
if (images.length === 0) throw new Error(`Expected FROM …\${…_DIGEST} in ${options.file}, found none`);

if (options.check) {
  const missing = images.filter(({ digest }) => !/^@sha256:[0-9a-f]{64}$/.test(digest));
  for (const { image, argument } of missing) {
    console.error(`Expected a digest of ${image} in ARG ${argument}, found none; run \`npm run pin:images\``);
  }
  if (missing.length > 0) process.exitCode = 1;
} else {
  const pinned = images.reduce((result, { image, argument }) => {
    const digest = resolveDigest(image);
    console.log(`${image}${digest}`);
    return result.replace(new RegExp(`^ARG ${argument}=.*$`, 'm'), `ARG ${argument}=${digest}`);
  }, text);
  writeFileSync(options.file, pinned);
}
