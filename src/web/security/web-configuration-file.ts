import { validateHeaderValue } from 'node:http';
import { ConfigError, throwIfAny } from '../../config/problem.ts';
import { parseYaml } from '../../config/yaml-source.ts';
import type { Field } from './findings.ts';
import { Findings, showUnlessSecret } from './findings.ts';
import { parseGoDuration } from './go-duration.ts';
import { BOOLEANS } from './go-names.ts';
import type { TlsSection } from './tls-section.ts';
import { readTlsSection } from './tls-section.ts';

/** Requests that come one after `intervalMs`, and `burst` at once. */
export interface RateLimit {
  readonly intervalMs: number;
  readonly burst: number;
}

/** What a web configuration file says, before the files that it names are read. */
export interface WebFile {
  /** Undefined where it is plain HTTP. */
  readonly tls: TlsSection | undefined;
  /** Headers of every answer. */
  readonly headers: Readonly<Record<string, string>>;
  /** Hashes (bcrypt) by user; no user, no authentication. */
  readonly users: ReadonlyMap<string, string>;
  readonly rateLimit: RateLimit | undefined;
}

const SECTIONS = ['tls_server_config', 'http_server_config', 'basic_auth_users', 'rate_limit'];

/** Headers that may be set, with the values that may be given where not any may be. */
const HEADERS: ReadonlyMap<string, readonly string[]> = new Map([
  ['Strict-Transport-Security', []],
  ['X-Content-Type-Options', ['nosniff']],
  ['X-Frame-Options', ['deny', 'sameorigin']],
  ['X-XSS-Protection', []],
  ['Content-Security-Policy', []],
]);

/** Cost from 4 to 31, then 22 letters of salt and 31 of hash. */
const BCRYPT = /^\$2[aby]\$(?:0[4-9]|[12]\d|3[01])\$[./A-Za-z0-9]{53}$/;

/**
 * Reads a web configuration file: the format of prometheus/exporter-toolkit, `docs/web-configuration.md`. Scalars
 * are taken as they are written: a user `007` is no number.
 *
 * @throws ConfigError that lists all that is wrong, without hashes and keys.
 */
export function parseWebFile(text: string, file: string): WebFile {
  const source = parseYaml(text, file, { schema: 'failsafe' });
  if ('message' in source) throw new ConfigError([source]);
  const findings = new Findings(source);
  const sections = findings.fields({ value: source.value, path: [] }, SECTIONS);
  const section = (name: string): Field => sections.get(name) ?? { value: undefined, path: [name] };
  const webFile = {
    tls: readTlsSection(findings, section('tls_server_config'), file),
    headers: readHttpSection(findings, section('http_server_config')),
    users: readUsers(findings, section('basic_auth_users')),
    rateLimit: readRateLimit(findings, section('rate_limit')),
  };
  throwIfAny(findings.problems);
  return webFile;
}

/** `http2` is checked and changes nothing: the server speaks HTTP/1.1, which every scraper does. */
function readHttpSection(findings: Findings, section: Field): Readonly<Record<string, string>> {
  const fields = findings.fields(section, ['http2', 'headers']);
  findings.word(fields.get('http2'), BOOLEANS, 'true or false');
  const headers: Record<string, string> = {};
  const given = fields.get('headers') ?? { value: undefined, path: [...section.path, 'headers'] };
  for (const [name, field] of findings.fields(given, [...HEADERS.keys()])) {
    const value = findings.text(field, 'a text');
    const allowed = HEADERS.get(name) ?? [];
    if (allowed.length > 0 && !allowed.includes(value))
      findings.refuse(field, `one of ${allowed.join(', ')}`, showUnlessSecret(value));
    else if (!isHeaderValue(name, value))
      findings.refuse(field, 'the value of a header', 'a text with characters that have no place in one');
    else if (value !== '') headers[name] = value;
  }
  return headers;
}

function isHeaderValue(name: string, value: string): boolean {
  try {
    validateHeaderValue(name, value);
    return true;
  } catch (error) {
    if (error instanceof TypeError) return false;
    throw error;
  }
}

function readUsers(findings: Findings, section: Field): ReadonlyMap<string, string> {
  const users = new Map<string, string>();
  for (const [user, field] of findings.mapping(section)) {
    const hash = findings.text(field, 'a bcrypt hash');
    if (BCRYPT.test(hash)) users.set(user, hash);
    else
      findings.refuse(
        field,
        'a bcrypt hash with a cost from 04 to 31',
        hash === '' ? 'nothing' : 'a text that is none',
        "`htpasswd -nBC 10 ''` makes one",
      );
  }
  return users;
}

function readRateLimit(findings: Findings, section: Field): RateLimit | undefined {
  const fields = findings.fields(section, ['interval', 'burst']);
  const [interval, burst] = [fields.get('interval'), fields.get('burst')];
  const intervalText = findings.text(interval, 'a duration');
  const burstText = findings.text(burst, 'a whole number');
  const intervalMs = intervalText === '' ? 0 : parseGoDuration(intervalText);
  if (intervalMs === undefined && interval !== undefined)
    return findings.refuse(interval, 'a duration such as 500ms or 1s', showUnlessSecret(intervalText));
  if (burst !== undefined && burstText !== '' && !/^\d{1,9}$/.test(burstText))
    return findings.refuse(burst, 'a whole number', showUnlessSecret(burstText));
  if (intervalMs === undefined || intervalMs === 0) return undefined;
  if (Number(burstText) >= 1) return { intervalMs, burst: Number(burstText) };
  const found = burstText === '' ? 'none' : burstText;
  return findings.refuse(burst ?? section, 'a burst of at least 1, or every request is refused', found);
}
