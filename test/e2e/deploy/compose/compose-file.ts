import { join } from 'node:path';
import { parse } from 'yaml';
import { z } from 'zod';
import { repositoryPath, readRepositoryFile } from '../../../support/repository.ts';

/** The folder of `compose.yml`; its relative paths start here. */
export const COMPOSE_FOLDER = 'deploy/compose';

const build = z.strictObject({
  context: z.string(),
  target: z.string().optional(),
  args: z.record(z.string(), z.string()).optional(),
});

const healthcheck = z.strictObject({
  test: z.tuple([z.literal('CMD'), z.string()], z.string()),
  interval: z.string(),
  timeout: z.string(),
  start_period: z.string(),
});

/**
 * Required of every container: no privileges, no core dumps, resource limits, a pinned version, ports on the
 * loopback address only.
 */
const service = z.strictObject({
  image: z.string().regex(/^[\w./-]+:v?\d+\.\d+\.\d+(@sha256:[0-9a-f]{64})?$/),
  build: build.optional(),
  pull_policy: z.literal('build').optional(),
  init: z.literal(true).optional(),
  restart: z.literal('unless-stopped'),
  read_only: z.literal(true),
  cap_drop: z.tuple([z.literal('ALL')]),
  security_opt: z.tuple([z.literal('no-new-privileges:true')]),
  ulimits: z.strictObject({ core: z.literal(0) }),
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
  volumes: z.array(z.string()).optional(),
  tmpfs: z.array(z.string()).optional(),
  healthcheck: healthcheck.optional(),
});

const composeFile = z.object({
  name: z.string(),
  services: z.record(z.string(), service),
  volumes: z.record(z.string(), z.null()),
});

/** A service of the Compose file. */
export type ComposeService = z.infer<typeof service>;

/** A bind mount: `source` is a path on the host, `target` a path in the container. */
export interface BindMount {
  readonly source: string;
  readonly target: string;
  readonly options: string | undefined;
}

/** Reads the variables of the committed `.env`. */
export function readComposeVariables(): Readonly<Record<string, string>> {
  const lines = readRepositoryFile(COMPOSE_FOLDER, '.env').matchAll(/^(\w+)=(.*)$/gm);
  return Object.fromEntries([...lines].map(([, name, value]) => [name, value]));
}

/** Lists the variables that the Compose file refers to. */
export function listReferencedVariables(): readonly string[] {
  const found = readRepositoryFile(COMPOSE_FOLDER, 'compose.yml').matchAll(/\$\{(\w+)\}/g);
  return [...new Set([...found].map(([, name = '']) => name))];
}

/** Reads the Compose file with the variables of the committed `.env`, as Compose does. */
export function readComposeFile(): z.infer<typeof composeFile> {
  const variables = readComposeVariables();
  // Like Compose, interpolate values only and keep them strings.
  const interpolate = (_: unknown, value: unknown): unknown =>
    typeof value === 'string'
      ? value.replaceAll(/\$\{(\w+)\}/g, (reference, name: string) => variables[name] ?? reference)
      : value;
  const text = readRepositoryFile(COMPOSE_FOLDER, 'compose.yml');
  return composeFile.parse(parse(text, interpolate, { merge: true }));
}

/** Reads one service of the Compose file. Throws if it does not exist. */
export function readComposeService(name: string): ComposeService {
  const found = readComposeFile().services[name];
  if (found === undefined) throw new Error(`Expected a service ${name} in compose.yml, found none`);
  return found;
}

/** Lists the bind mounts of a service, with absolute host paths. */
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
