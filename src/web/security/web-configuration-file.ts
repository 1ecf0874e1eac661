import { validateHeaderValue } from 'node:http';
import { dirname } from 'node:path';
import { z } from 'zod';
import { ConfigError, describeKind, expectedFound } from '../../config/config-error.ts';
import { readText, type ReadFile } from '../../config/file-system.ts';
import { findCertificateWarnings } from '../../config/certificate-warnings.ts';
import { expected, parsedBy, reject, strictMapping, toProblems } from '../../config/validation.ts';
import { parseYaml } from '../../config/yaml-source.ts';
import { getErrorMessage } from '../../runtime/errors.ts';
import { readTlsServerOptions, type ClientAuth, type TlsServerOptions } from './tls-options.ts';

/** A web configuration with its certificates. Immutable: a reload creates a new one. */
export interface WebConfiguration {
  /** `undefined` for plain HTTP. */
  readonly tls: TlsServerOptions | undefined;
  readonly headers: Readonly<Record<string, string>>;
  /** bcrypt hashes by user name; if empty, requests need no password. */
  readonly users: ReadonlyMap<string, string>;
}

const NO_CLIENT_AUTH: ClientAuth = { isRequested: false, isRequired: false, isVerified: false };
const REQUIRE_ANY: ClientAuth = { isRequested: true, isRequired: true, isVerified: false };
const CLIENT_AUTH_TYPES = new Map<string, ClientAuth>([
  ['NoClientCert', NO_CLIENT_AUTH],
  ['RequestClientCert', { isRequested: true, isRequired: false, isVerified: false }],
  ['RequireAnyClientCert', REQUIRE_ANY],
  // A deprecated name for RequireAnyClientCert.
  ['RequireClientCert', REQUIRE_ANY],
  ['VerifyClientCertIfGiven', { isRequested: true, isRequired: false, isVerified: true }],
  ['RequireAndVerifyClientCert', { isRequested: true, isRequired: true, isVerified: true }],
]);

/** Without TLS 1.0 and 1.1 (RFC 8996), which the toolkit accepts. */
const TLS_VERSIONS = new Map<string, 'TLSv1.2' | 'TLSv1.3'>([
  ['TLS12', 'TLSv1.2'],
  ['TLS13', 'TLSv1.3'],
]);

/** The cost in two digits, then 22 characters of salt and 31 of hash. */
const BCRYPT_HASH = /^\$2[aby]\$(\d\d)\$[./A-Za-z0-9]{53}$/;
const MIN_BCRYPT_COST = 4;
/** The toolkit allows up to 31. Cost 16 takes about 6 s, a further one twice as long, and delays the exit. */
const MAX_BCRYPT_COST = 16;

/** Accepts an absent value too. As in Go's YAML library, an empty string, `~` and `null` are absent. */
function optional<T extends z.ZodType>(schema: T) {
  const isAbsent = (raw: unknown): boolean => raw === null || raw === '' || raw === '~' || raw === 'null';
  return z.preprocess((raw) => (isAbsent(raw) ? undefined : raw), schema.optional()).optional();
}

/** Accepts one of the words; outputs its meaning. */
function word<T>(meanings: ReadonlyMap<string, T>) {
  return parsedBy(
    (raw) => (typeof raw === 'string' ? meanings.get(raw) : undefined),
    expected(`one of ${[...meanings.keys()].join(', ')}`),
  );
}

/** A mapping whose keys are those of the exporter-toolkit that this server knows. */
function section<const Shape extends z.core.$ZodLooseShape>(shape: Shape) {
  const keys = Object.keys(shape).join(', ');
  return strictMapping(shape, expected('a mapping'), `one of ${keys}`);
}

const pemFile = z.string(expected('the path of a file'));

const tlsSchema = section({
  cert_file: optional(pemFile),
  key_file: optional(pemFile),
  client_auth_type: optional(word(CLIENT_AUTH_TYPES)),
  client_ca_file: optional(pemFile),
  min_version: optional(word(TLS_VERSIONS)),
}).transform((values, context) => {
  if (Object.values(values).every((value) => value === undefined)) return undefined;
  const { cert_file, key_file, client_auth_type = NO_CLIENT_AUTH, client_ca_file, min_version } = values;
  if (cert_file === undefined) return reject(context, expectedFound('cert_file', 'none'));
  if (key_file === undefined) return reject(context, expectedFound('key_file', 'none'));
  if (client_ca_file !== undefined && !client_auth_type.isRequested) {
    const found = 'one that does not request a certificate';
    return reject(context, expectedFound('a client_auth_type for the client CA', found));
  }
  return { cert_file, key_file, client_auth_type, client_ca_file, min_version: min_version ?? 'TLSv1.2' };
});

const headerValue = optional(
  z.string(expected('a string')).refine(isHeaderValue, {
    message: expectedFound('a header value', 'a string with characters that headers must not contain'),
  }),
);
const headerWord = (...words: readonly string[]) => word(new Map(words.map((text) => [text, text])));

/** `http2` has no effect: the server supports HTTP/1.1, as every scraper does. */
const httpSchema = section({
  http2: z.unknown().optional(),
  headers: optional(
    section({
      'Strict-Transport-Security': headerValue,
      'X-Content-Type-Options': headerWord('nosniff').optional(),
      'X-Frame-Options': headerWord('deny', 'sameorigin').optional(),
      'X-XSS-Protection': headerValue,
      'Content-Security-Policy': headerValue,
    }),
  ),
});

/** Not a zod record, which would lose a user named `__proto__`. */
const usersSchema = parsedBy(
  (raw) =>
    typeof raw === 'object' && raw !== null && !Array.isArray(raw)
      ? new Map<string, unknown>(Object.entries(raw))
      : undefined,
  expected('a mapping', { show: describeKind }),
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

const fileSchema = optional(
  section({
    tls_server_config: optional(tlsSchema),
    http_server_config: optional(httpSchema),
    basic_auth_users: optional(usersSchema),
  }),
);

/**
 * Reads a web configuration file, which has some keys of prometheus/exporter-toolkit
 * (`docs/web.md`), and its certificates. Scalars keep their spelling: a user can be `007`.
 * Rejects with a ConfigError that has all problems, without hashes and keys.
 */
export async function loadWebConfiguration(path: string, readFile: ReadFile): Promise<WebConfiguration> {
  const text = await readText(readFile, { path, locate: () => 'web.config.file' });
  if (typeof text !== 'string') throw new ConfigError([text]);
  const source = parseYaml(text, path, 'failsafe');
  if ('message' in source) throw new ConfigError([source]);
  const { locate } = source;
  const { success, data = {}, error } = fileSchema.safeParse(source.value);
  if (!success) throw new ConfigError(toProblems(error, locate));
  const users = data.basic_auth_users ?? new Map<string, string>();
  if (users.size > 0) await assertBcryptBuild(path);
  const { tls_server_config: tls, http_server_config: http } = data;
  const headers = Object.entries(http?.headers ?? {}).flatMap(([name, value]) =>
    value === undefined ? [] : [[name, value]],
  );
  return {
    tls: tls && (await readTlsServerOptions(tls, locate, dirname(path), readFile)),
    headers: Object.fromEntries(headers),
    users,
  };
}

/** Finds what is valid but no client can use, one line each. */
export function findWebWarnings({ tls }: WebConfiguration, nowMs: number): readonly string[] {
  if (tls === undefined) return [];
  const warnings = [...findCertificateWarnings(tls.secureContext.cert, 'server', nowMs)];
  return warnings.map((warning) => `tls_server_config.cert_file: ${warning}`);
}

export type ComparePassword = (password: string, hash: string) => Promise<boolean>;

/** Imported on use: without passwords, the exporter runs on platforms for which bcrypt has no build. */
export async function importBcrypt(): Promise<{ readonly verify: ComparePassword }> {
  return await import('@node-rs/bcrypt');
}

async function assertBcryptBuild(path: string): Promise<void> {
  try {
    await importBcrypt();
  } catch (error) {
    const remedy = 'install the exporter with optional dependencies, on a file system without noexec';
    const message = expectedFound('@node-rs/bcrypt to load', findLoaderWords(error), remedy);
    throw new ConfigError([{ location: `${path} basic_auth_users`, message }]);
  }
}

/**
 * The loader tries builds for several platforms. Says why that for this one failed, or that there is none.
 */
function findLoaderWords(error: unknown): string {
  const causes: string[] = [];
  for (let cause = error; cause instanceof Error; { cause } = cause)
    causes.push(cause.message.split('\n', 1).join());
  const isForThisPlatform = (text: string): boolean => text.includes(`${process.platform}-${process.arch}`);
  const found = causes.find((text) => !text.startsWith('Cannot find')) ?? causes.find(isForThisPlatform);
  return found ?? getErrorMessage(error);
}

function isHeaderValue(value: string): boolean {
  try {
    validateHeaderValue('header', value);
    return true;
  } catch {
    return false;
  }
}
