import { z } from 'zod';
import { repositoryPath } from '../../support/repository.ts';
import type { Buildah } from './buildah.ts';
import { buildBaseImages, readBaseImages } from './base-images.ts';

const inspection = z.object({
  Docker: z.object({
    config: z.object({
      User: z.string(),
      ExposedPorts: z.record(z.string(), z.unknown()),
      Env: z.array(z.string()),
      Entrypoint: z.array(z.string()),
      WorkingDir: z.string(),
      Healthcheck: z.object({ Test: z.array(z.string()) }),
      Labels: z.record(z.string(), z.string()),
    }),
  }),
});
/** The bases that the Dockerfile can put the program on. */
export const BASES = ['debian', 'distroless'] as const;

/** An image that the repository's Dockerfile builds, on stand-ins for its base images. */
export interface BuiltImage {
  readonly base: (typeof BASES)[number];
  readonly tag: string;
  readonly config: z.infer<typeof inspection>['Docker']['config'];
  /** A container of it in which nothing runs yet, and the folder of its files. */
  readonly container: string;
  readonly files: string;
  /** The folder of the files of the base image. */
  readonly debian: string;
}

/** Builds an image for each base in the folder of `buildah`. */
export function buildImages(buildah: Buildah, version: string, revision: string): readonly BuiltImage[] {
  const dockerfile = repositoryPath('Dockerfile');
  const debian = buildBaseImages(buildah, readBaseImages(dockerfile), repositoryPath());
  return BASES.map((base) => {
    const tag = `localhost/xvs-exporter-${base}`;
    const args = [
      `BASE=${base}`,
      `VERSION=${version}`,
      `REVISION=${revision}`,
      // The stand-ins have other digests.
      'NODE_DIGEST=',
      'DEBIAN_DIGEST=',
    ];
    buildah.build(
      tag,
      dockerfile,
      repositoryPath(),
      ...args.flatMap((argument) => ['--build-arg', argument]),
    );
    const inspected: unknown = JSON.parse(buildah.run('inspect', '--type', 'image', tag));
    const container = buildah.run('from', '--pull-never', tag);
    const files = buildah.run('mount', container);
    return { base, tag, config: inspection.parse(inspected).Docker.config, container, files, debian };
  });
}
