import type { InnerPath } from '../../config/format.ts';
import { nearestHint } from '../../config/nearest.ts';
import type { Problem } from '../../config/problem.ts';
import { kindOf, mismatch, show } from '../../config/problem.ts';
import type { YamlSource } from '../../config/yaml-source.ts';

/** A part of a bcrypt hash, of a PEM text, or a whole line of base64: never shown, whatever it was meant to be. */
const SECRET = /\$\d\d\$|-----BEGIN|^(?!\/)[A-Za-z0-9+/=]{40,}$/;
/** Where no path is meant, nothing long has to be shown. */
const TOKEN = /[A-Za-z0-9+/=.]{40}/;

/** A part of the file, with its place. All scalars are texts. */
export interface Field {
  readonly value: unknown;
  readonly path: InnerPath;
}

/** Collects what is wrong with a web configuration file while it is read. */
export class Findings {
  readonly problems: Problem[] = [];
  readonly #source: YamlSource;

  constructor(source: YamlSource) {
    this.#source = source;
  }

  /** Where something stands, to begin a message with: `web.yml:2:14 tls_server_config.min_version`. */
  place(path: InnerPath, ofKey = false): string {
    // Names of users stay out of messages: who mixed up name and password would find the password there.
    const shown = path[0] === 'basic_auth_users' ? path.slice(0, 1) : path;
    const name = shown.filter((step) => typeof step === 'string' && !isToken(step)).join('.');
    return `${this.#source.at(path, ofKey)} ${name}`.trimEnd();
  }

  refuse({ path }: Pick<Field, 'path'>, expected: string, found: string, hint?: string): undefined {
    this.problems.push({ place: this.place(path), message: mismatch(expected, found, hint) });
  }

  /** The fields of a mapping whose keys are all known; nothing at all is an empty one. */
  fields(field: Field, known: readonly string[]): ReadonlyMap<string, Field> {
    const all = this.mapping(field);
    for (const [key, { path }] of all) {
      if (known.includes(key)) continue;
      const message = mismatch('a known key', showUnlessSecret(key), nearestHint(key, known));
      this.problems.push({ place: this.place(path, true), message });
    }
    return all;
  }

  /** The fields of a mapping with whatever keys. */
  mapping(field: Field): ReadonlyMap<string, Field> {
    const { value, path } = field;
    if (isNothing(value)) return new Map();
    if (typeof value !== 'object' || value === null || Array.isArray(value)) {
      this.refuse(field, 'a mapping', kindOf(value));
      return new Map();
    }
    return new Map(
      Object.entries(value).map(([key, inner]) => [key, { value: inner, path: [...path, key] }]),
    );
  }

  /** A text, empty where there is none. */
  text(field: Field | undefined, expected: string): string {
    if (field === undefined || isNothing(field.value)) return '';
    if (typeof field.value === 'string') return field.value;
    this.refuse(field, expected, kindOf(field.value));
    return '';
  }

  /** The texts of a list; undefined where there is none. */
  texts(field: Field | undefined, expected: string): readonly Field[] | undefined {
    if (field === undefined || isNothing(field.value)) return undefined;
    if (!Array.isArray(field.value)) return this.refuse(field, expected, kindOf(field.value));
    return field.value.map((value: unknown, index) => ({ value, path: [...field.path, index] }));
  }

  /** What a word stands for; undefined where there is none, or another one. */
  word<T>(
    field: Field | undefined,
    words: ReadonlyMap<string, T>,
    expected = `one of ${[...words.keys()].join(', ')}`,
  ): T | undefined {
    const text = this.text(field, expected);
    if (field === undefined || text === '') return undefined;
    const meant = words.get(text);
    return meant === undefined ? this.refuse(field, expected, showUnlessSecret(text)) : meant;
  }
}

/** A value as a message shows it, unless it looks like a hash or a key. */
export function showUnlessSecret(text: string): string {
  return isToken(text) ? 'a text that is not shown' : show(text);
}

function isToken(text: string): boolean {
  return holdsSecret(text) || TOKEN.test(text);
}

/** Whether a text looks like a hash or a key rather than a path. */
export function holdsSecret(text: string): boolean {
  return SECRET.test(text);
}

function isNothing(value: unknown): boolean {
  return value === undefined || value === null || value === '' || value === '~' || value === 'null';
}
