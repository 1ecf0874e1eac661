import { validateHeaderValue } from 'node:http';
import { z } from 'zod';
import { ConfigError, describeKind, expectedFound } from '../../config/config-error.ts';
import { parsedBy, reject, strictMapping, toProblems, type Locate } from '../../config/validation.ts';
import { parseYaml } from '../../config/yaml-source.ts';
import { tlsSectionSchema, toTlsSection, type TlsSection } from './tls-options.ts';
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

/** A valid web configuration file whose certificates have not been read yet. */
export interface WebConfigurationFile {
  /** `undefined` for plain HTTP. */
  readonly tls: TlsSection | undefined;
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
 * Parses a web configuration file in the format of prometheus/exporter-toolkit (`docs/web-configuration.md`). Scalars
 * keep their spelling, so that a user can be called `007`.
 *
 * @throws ConfigError with all problems, without hashes and keys.
 */
export function parseWebConfigurationFile(text: string, file: string): WebConfigurationFile {
  const source = parseYaml(text, file, { schema: 'failsafe' });
  if ('message' in source) throw new ConfigError([source]);
  const locate: Locate = (path, isKey) => {
    // A user name may be a password in the wrong place.
    const shown =
      path[0] === 'basic_auth_users' ? path.slice(0, 1) : path.slice(0, isKey === true ? -1 : undefined);
    const name = shown.filter((step) => typeof step === 'string' && !isRedacted(step)).join('.');
    return `${source.locate(path, isKey)} ${name}`.trimEnd();
  };
  const { success, data = {}, error } = fileSchema.safeParse(source.value);
  if (!success) throw new ConfigError(toProblems(error, locate));
  const headers = Object.entries(data.http_server_config?.headers ?? {});
  return {
    tls: toTlsSection(data.tls_server_config ?? {}, locate, file),
    headers: Object.fromEntries(
      headers.flatMap(([name, value]) => (value === undefined ? [] : [[name, value]])),
    ),
    users: data.basic_auth_users ?? new Map(),
    rateLimit: data.rate_limit,
  };
}

function isHeaderValue(value: string): boolean {
  try {
    validateHeaderValue('header', value);
    return true;
  } catch {
    return false;
  }
}
