// Pins the images that the project takes from others by digest: reads the digest of each tag from the
// registry with skopeo, and writes it into `ARG …_DIGEST` of the Dockerfiles, and after the tag in the
// Compose file. Run it to update the digests.
//
//   node scripts/pin-images.mjs                 writes the digests
//   node scripts/pin-images.mjs --check         asks no registry; fails if a digest is missing
//   node scripts/pin-images.mjs --root=FOLDER   for the project in another folder
import { spawnSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';

const { values: options } = parseArgs({
  options: {
    check: { type: 'boolean', default: false },
    root: { type: 'string', default: fileURLToPath(new URL('..', import.meta.url)) },
  },
});

const FILES = {
  Dockerfile: listBaseImages,
  '.github/ci.Dockerfile': listBaseImages,
  'deploy/compose/compose.yml': listServiceImages,
};

/** The tags of the base images of a Dockerfile, with what precedes their digests. */
function listBaseImages(dockerfile) {
  const values = new Map(
    [...dockerfile.matchAll(/^ARG (\w+)=(\S*)$/gm)].map(([, name, value]) => [name, value]),
  );
  const pattern = /^FROM (?:--\S+ )?(\S+?)\$\{(\w+_DIGEST)\}/gm;
  return [...dockerfile.matchAll(pattern)].map(([, tag, argument]) => ({
    before: `\nARG ${argument}=`,
    digest: values.get(argument) ?? '',
    image: tag.replaceAll(/\$\{(\w+)\}/g, (_, name) => values.get(name) ?? ''),
  }));
}

/** The same of the services of a Compose file, but for the project's own images. */
function listServiceImages(compose) {
  return [...compose.matchAll(/(\n +image: )((?!xvs-)[^\s@]+)(\S*)$/gm)].map(([, key, image, digest]) => ({
    before: key + image,
    digest,
    image,
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

for (const [name, listImages] of Object.entries(FILES)) {
  const path = join(options.root, name);
  let text = readFileSync(path, 'utf8');
  const images = listImages(text);
  if (images.length === 0) throw new Error(`Expected images in ${name}, found none`);
  for (const { image, before, digest } of images) {
    if (!options.check) {
      const resolved = resolveDigest(image);
      console.log(`${image}${resolved}`);
      text = text.replace(before + digest, before + resolved);
    } else if (!/^@sha256:[0-9a-f]{64}$/.test(digest)) {
      console.error(`Expected a digest of ${image} in ${name}, found none; run \`npm run pin:images\``);
      process.exitCode = 1;
    }
  }
  if (!options.check) writeFileSync(path, text);
}
