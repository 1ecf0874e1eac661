import { validateHeaderValue } from 'node:http';
import { dirname } from 'node:path';
import { z } from 'zod';
import { ConfigError, describeKind, expectedFound } from '../../config/config-error.ts';
import { readText, type ReadFile } from '../../config/files.ts';
import { parsedBy, reject, strictMapping, toProblems, type Locate } from '../../config/validation.ts';
import { parseYaml } from '../../config/yaml-source.ts';
import { importBcrypt } from './password-verifier.ts';
import { readTlsServerOptions, tlsSectionSchema, type TlsServerOptions } from './tls-options.ts';
import {
  boolean,
  expectedMapping,
  expectedValue,
  goDurationMs,
  isRedacted,
  optional,
  word,
} from './toolkit-values.ts';

/** One request per `intervalMs`, with bursts of up to `burst` requests. */
export interface RateLimit {
  readonly intervalMs: number;
  readonly burst: number;
}

/** A web configuration with its certificates. Immutable: a reload creates a new one. */
export interface WebConfiguration {
  /** `undefined` for plain HTTP. */
  readonly tls: TlsServerOptions | undefined;
  /** Headers of every response. */
  readonly headers: Readonly<Record<string, string>>;
  /** bcrypt hashes by user name; if empty, requests need no password. */
  readonly users: ReadonlyMap<string, string>;
  readonly rateLimit: RateLimit | undefined;
}

/** The cost in two digits, then 22 characters of salt and 31 of hash. */
const BCRYPT_HASH = /^\$2[aby]\$(\d\d)\$[./A-Za-z0-9]{53}$/;
const MIN_BCRYPT_COST = 4;
/**
 * The toolkit accepts costs up to 31. A comparison of cost 16 takes about 6 s, each further step doubles it, and it
 * delays the exit of the process, because it cannot be cancelled.
 */
const MAX_BCRYPT_COST = 16;

const headerValue = optional(
  z.string(expectedValue('a string')).refine(
    isHeaderValue,
    expectedValue('a header value', {
      show: () => 'a string with characters that headers must not contain',
    }),
  ),
);
const headerWord = (...words: readonly string[]) =>
  word(new Map(words.map((text) => [text, text]))).optional();

/** `http2` has no effect: the server supports HTTP/1.1, as every scraper does. */
const httpSectionSchema = strictMapping(
  {
    http2: optional(boolean),
    headers: optional(
      strictMapping(
        {
          'Strict-Transport-Security': headerValue,
          'X-Content-Type-Options': headerWord('nosniff'),
          'X-Frame-Options': headerWord('deny', 'sameorigin'),
          'X-XSS-Protection': headerValue,
          'Content-Security-Policy': headerValue,
        },
        expectedMapping,
      ),
    ),
  },
  expectedMapping,
);

/** Not a zod record, which would lose a user named `__proto__`. */
const usersSchema = parsedBy(
  (raw) =>
    typeof raw === 'object' && raw !== null && !Array.isArray(raw)
      ? new Map<string, unknown>(Object.entries(raw))
      : undefined,
  expectedMapping,
).transform((entries, context) => {
  const users = new Map<string, string>();
  for (const [user, hash] of entries) {
    const found = describeInvalidHash(hash);
    const remedy = "run `htpasswd -nBC 10 ''` to create one";
    if (found === undefined) users.set(user, String(hash));
    else reject(context, expectedFound('a bcrypt hash with a cost from 04 to 16', found, remedy), [user]);
  }
  return users;
});

function describeInvalidHash(hash: unknown): string | undefined {
  if (typeof hash !== 'string') return describeKind(hash);
  if (hash === '') return 'no value';
  const cost = BCRYPT_HASH.exec(hash)?.[1];
  if (cost === undefined) return 'another string';
  const isAccepted = Number(cost) >= MIN_BCRYPT_COST && Number(cost) <= MAX_BCRYPT_COST;
  return isAccepted ? undefined : `cost ${cost}`;
}

const rateLimitSchema = strictMapping(
  {
    interval: optional(goDurationMs),
    burst: optional(
      parsedBy(
        (raw) => (typeof raw === 'string' && /^\d{1,9}$/.test(raw) ? Number(raw) : undefined),
        expectedValue('a whole number'),
      ),
    ),
  },
  expectedMapping,
).transform(({ interval = 0, burst }, context): RateLimit | undefined => {
  if (interval === 0) return undefined;
  if (burst !== undefined && burst >= 1) return { intervalMs: interval, burst };
  const expected = 'a burst of at least 1, because 0 rejects every request';
  return reject(
    context,
    expectedFound(expected, String(burst ?? 'none')),
    burst === undefined ? [] : ['burst'],
  );
});

const fileSchema = optional(
  strictMapping(
    {
      tls_server_config: optional(tlsSectionSchema),
      http_server_config: optional(httpSectionSchema),
      basic_auth_users: optional(usersSchema),
      rate_limit: optional(rateLimitSchema),
    },
    expectedMapping,
  ),
);

/**
 * Reads a web configuration file in the format of prometheus/exporter-toolkit (`docs/web-configuration.md`), and its
 * certificates. Scalars keep their spelling, so that a user can be called `007`. Rejects with a ConfigError that has all
 * problems, without hashes and keys.
 */
export async function loadWebConfiguration(path: string, readFile: ReadFile): Promise<WebConfiguration> {
  const text = await readText(readFile, { path, locate: () => 'web.config.file', folder: undefined });
  if (typeof text !== 'string') throw new ConfigError([text]);
  const source = parseYaml(text, path, 'failsafe');
  if ('message' in source) throw new ConfigError([source]);
  const locate: Locate = (steps, isKey) => {
    // A user name may be a password in the wrong place.
    const shown =
      steps[0] === 'basic_auth_users' ? steps.slice(0, 1) : steps.slice(0, isKey === true ? -1 : undefined);
    const name = shown.filter((step) => typeof step === 'string' && !isRedacted(step)).join('.');
    return `${source.locate(steps, isKey)} ${name}`.trimEnd();
  };
  const { success, data = {}, error } = fileSchema.safeParse(source.value);
  if (!success) throw new ConfigError(toProblems(error, locate));
  const users = data.basic_auth_users ?? new Map<string, string>();
  if (users.size > 0) await assertBcryptBuild(path);
  const headers = Object.entries(data.http_server_config?.headers ?? {});
  return {
    tls:
      data.tls_server_config &&
      (await readTlsServerOptions(data.tls_server_config, locate, dirname(path), readFile)),
    headers: Object.fromEntries(
      headers.flatMap(([name, value]) => (value === undefined ? [] : [[name, value]])),
    ),
    users,
    rateLimit: data.rate_limit,
  };
}

async function assertBcryptBuild(path: string): Promise<void> {
  try {
    await importBcrypt();
  } catch {
    const found = `${process.platform}/${process.arch}`;
    const message = expectedFound('a platform that @node-rs/bcrypt has a build for', found);
    throw new ConfigError([{ location: `${path} basic_auth_users`, message }]);
  }
}

function isHeaderValue(value: string): boolean {
  try {
    validateHeaderValue('header', value);
    return true;
  } catch {
    return false;
  }
}
