import { z } from 'zod';
import { repositoryPath } from '../../support/repository.ts';
import { Buildah } from './buildah.ts';
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
/** The image that the repository's Dockerfile gives, on stand-ins for its base images. */
export interface BuiltImage {
  readonly tag: string;
  readonly config: z.infer<typeof inspection>['Docker']['config'];
  /** A container of it that nothing runs in yet, and the folder where its files are. */
  readonly container: string;
  readonly files: string;
  /** The folder with the files of the base image. */
  readonly debian: string;
  /** Where all of it is, and goes with. */
  readonly buildah: Buildah;
}

/** Builds the image in a folder of its own, which nothing is left of if that fails. */
export function buildImage(version: string, revision: string): BuiltImage {
  const buildah = new Buildah();
  try {
    return {
      buildah,
      ...build(buildah, [`VERSION=${version}`, `REVISION=${revision}`, 'NODE_DIGEST=', 'DEBIAN_DIGEST=']),
    };
  } catch (error) {
    buildah[Symbol.dispose]();
    throw error;
  }
}

function build(buildah: Buildah, args: readonly string[]): Omit<BuiltImage, 'buildah'> {
  const tag = 'localhost/xvs-exporter';
  const dockerfile = repositoryPath('Dockerfile');
  const debian = buildBaseImages(buildah, readBaseImages(dockerfile), repositoryPath());
  buildah.build(tag, dockerfile, repositoryPath(), ...args.flatMap((argument) => ['--build-arg', argument]));
  const inspected: unknown = JSON.parse(buildah.run('inspect', '--type', 'image', tag));
  const container = buildah.run('from', '--pull-never', tag);
  const files = buildah.run('mount', container);
  return { tag, config: inspection.parse(inspected).Docker.config, container, files, debian };
}
