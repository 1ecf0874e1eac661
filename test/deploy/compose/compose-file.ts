import { join } from 'node:path';
import { parse } from 'yaml';
import { z } from 'zod';
import { repositoryPath, readRepositoryFile } from '../../support/repository.ts';

/** The folder of the file: paths in it start here. */
export const COMPOSE_FOLDER = 'deploy/compose';

const build = z.strictObject({ context: z.string(), args: z.record(z.string(), z.string()) });

const healthcheck = z.strictObject({
  test: z.tuple([z.literal('CMD'), z.string()], z.string()),
  interval: z.string(),
  timeout: z.string(),
  start_period: z.string(),
});

/** What every container has to be: confined, limited, of one version, reached from this machine only. */
const service = z.strictObject({
  image: z.string().regex(/^[\w./-]+:v?\d+\.\d+\.\d+$/),
  build: build.optional(),
  restart: z.literal('unless-stopped'),
  read_only: z.literal(true),
  cap_drop: z.tuple([z.literal('ALL')]),
  security_opt: z.tuple([z.literal('no-new-privileges:true')]),
  logging: z.strictObject({
    driver: z.literal('json-file'),
    options: z.strictObject({ 'max-size': z.string(), 'max-file': z.string() }),
  }),
  ports: z.array(z.string().regex(/^127\.0\.0\.1:(\d+):\1$/)).nonempty(),
  deploy: z.strictObject({
    resources: z.strictObject({
      limits: z.strictObject({ cpus: z.string(), memory: z.string().regex(/^\d+[MG]$/), pids: z.number() }),
    }),
  }),
  profiles: z.array(z.string()).optional(),
  command: z.array(z.string()).optional(),
  environment: z.record(z.string(), z.string()).optional(),
  secrets: z.array(z.string()).optional(),
  volumes: z.array(z.string()).optional(),
  tmpfs: z.array(z.string()).optional(),
  healthcheck: healthcheck.optional(),
});

const composeFile = z.object({
  name: z.string(),
  services: z.record(z.string(), service),
  secrets: z.record(z.string(), z.strictObject({ file: z.string() })),
  volumes: z.record(z.string(), z.null()),
});

/** A container, as the file describes it. */
export type ComposeService = z.infer<typeof service>;

/** A folder or file of this machine, and where a container sees it. */
export interface BindMount {
  readonly source: string;
  readonly target: string;
  readonly options: string | undefined;
}

/** The assignments of the committed `.env`. */
export function readComposeVariables(): Readonly<Record<string, string>> {
  const lines = readRepositoryFile(COMPOSE_FOLDER, '.env').matchAll(/^(\w+)=(.*)$/gm);
  return Object.fromEntries([...lines].map(([, name, value]) => [name, value]));
}

/** The variables that the file refers to. */
export function listReferencedVariables(): readonly string[] {
  const found = readRepositoryFile(COMPOSE_FOLDER, 'compose.yml').matchAll(/\$\{(\w+)\}/g);
  return [...new Set([...found].map(([, name = '']) => name))];
}

/** The file as Compose reads it, with the committed `.env`. */
export function readComposeFile(): z.infer<typeof composeFile> {
  const variables = readComposeVariables();
  // As Compose does it: in values, which stay the strings that they were.
  const interpolate = (_: unknown, value: unknown): unknown =>
    typeof value === 'string'
      ? value.replaceAll(/\$\{(\w+)\}/g, (reference, name: string) => variables[name] ?? reference)
      : value;
  const text = readRepositoryFile(COMPOSE_FOLDER, 'compose.yml');
  return composeFile.parse(parse(text, interpolate, { merge: true }));
}

/** A service of the file, which has to be there. */
export function readComposeService(name: string): ComposeService {
  const found = readComposeFile().services[name];
  if (found === undefined) throw new Error(`Expected a service ${name}`);
  return found;
}

/** What a service mounts from this repository, with paths of this machine. */
export function listBindMounts({ volumes = [] }: ComposeService): readonly BindMount[] {
  return volumes
    .map((volume) => volume.split(':'))
    .filter(([source]) => source?.startsWith('.') === true)
    .map(([source = '', target = '', options]) => ({
      source: join(repositoryPath(COMPOSE_FOLDER), source),
      target,
      options,
    }));
}
