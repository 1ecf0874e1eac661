import { z } from 'zod';
import { repositoryPath } from '../../../support/repository.ts';
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
/** Values of the Dockerfile argument `BASE`. */
export const BASES = ['debian', 'distroless'] as const;

/** An image of the repository's Dockerfile, built on local replacements of its base images. */
export interface BuiltImage {
  readonly base: (typeof BASES)[number];
  readonly tag: string;
  readonly config: z.infer<typeof inspection>['Docker']['config'];
  /** A container of the image without a process. */
  readonly container: string;
  /** The folder of the files of the container. */
  readonly files: string;
  /** The folder of the files of the base image. */
  readonly debian: string;
}

/** Builds an image for each base. */
export function buildImages(buildah: Buildah, version: string, revision: string): readonly BuiltImage[] {
  const dockerfile = repositoryPath('Dockerfile');
  const debian = buildBaseImages(buildah, readBaseImages(dockerfile), repositoryPath());
  return BASES.map((base) => {
    const tag = `localhost/xvs-exporter-${base}`;
    const args = [
      `BASE=${base}`,
      `VERSION=${version}`,
      `REVISION=${revision}`,
      // Locally built base images have other digests.
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
