import { isNode, isScalar, isSeq, LineCounter, parseDocument, visit } from 'yaml';
import type { ErrorCode, Pair } from 'yaml';
import { createProblem, formatValue, type Problem } from './config-error.ts';
import type { Locate, ValuePath } from './validation.ts';

/** A parsed YAML or JSON text with the locations of its parts. */
export interface YamlSource {
  readonly value: unknown;
  /** `/etc/xvs.yml:7:13 poll.interval`, of a value or its key; if missing, of what encloses it. */
  readonly locate: Locate;
}

/** Parsing takes about a second for each MiB, in one turn of the event loop, and 200 times the memory. */
const MAX_YAML_CHARACTERS = 1024 * 1024;

/** Texts of parser errors. The parser's own messages quote the source, which may contain a secret. */
const PARSER_ERROR_TEXTS: Partial<Record<ErrorCode, string>> = {
  BAD_INDENT: 'inconsistent indentation; check the indentation',
  BAD_SCALAR_START: 'an unquoted string that starts with a reserved character',
  BLOCK_AS_IMPLICIT_KEY:
    'a second ": " in one line, or a line that is indented too far; put the string in quotes, or check the indentation',
  MISSING_CHAR: 'a missing quote, bracket, comma or ":"; check the indentation, too',
  MULTIPLE_DOCS: 'a second document',
  TAB_AS_INDENT: 'a tab used for indentation; check the indentation: only spaces indent',
  TAG_RESOLVE_FAILED: 'an unknown tag; put a string that starts with "!" in quotes',
};
const UNKNOWN_ALIAS = 'an alias without an anchor; put a string that starts with "*" in quotes';
const NON_STRING_KEY =
  'a key that is not a string; put a key that starts with "?", "[", "{" or "*" in quotes';
const OTHER_ERROR =
  'unexpected content; put strings with special characters in quotes, and check the indentation';

/** Searching pairs one by one for each of thousands of mistakes would take minutes. */
type PairsByKey = ReadonlyMap<unknown, ReadonlyMap<string, Pair>>;

/** Reports only the first syntax error: most others follow from it. `failsafe` keeps scalars as strings. */
export function parseYaml(
  text: string,
  file: string,
  schema: 'core' | 'failsafe' = 'core',
): YamlSource | Problem {
  if (text.length > MAX_YAML_CHARACTERS) {
    const remedy = 'list service codes in JSON files, which can have 4 MiB';
    const found = `${(text.length / MAX_YAML_CHARACTERS).toFixed(1)} MiB`;
    return createProblem(file, 'at most 1 MiB of YAML', found, remedy);
  }
  // The bytes of its byte order mark and every second byte of its ASCII characters are not UTF-8.
  if (/^\uFFFD\uFFFD|\0/.test(text)) return createProblem(file, 'UTF-8', 'UTF-16', 'save the file as UTF-8');
  const lineCounter = new LineCounter();
  const document = parseDocument(text, {
    lineCounter,
    prettyErrors: false,
    logLevel: 'error',
    schema,
    // The parser compares each key with each other one.
    uniqueKeys: false,
  });
  const locateOffset = (offset: number): string => {
    const { line, col } = lineCounter.linePos(offset);
    return `${file}:${line}:${col}`;
  };
  const reject = (offset: number, found: string): Problem =>
    createProblem(locateOffset(offset), 'valid YAML', found);
  const faults = [...document.errors, ...document.warnings].map(({ code, pos: [offset] }) => ({
    offset,
    found: PARSER_ERROR_TEXTS[code] ?? OTHER_ERROR,
  }));
  const reportFault = (node: unknown, found: string) => faults.push({ offset: getOffset(node), found });
  const pairsByKey = new Map<unknown, ReadonlyMap<string, Pair>>();
  visit(document, {
    Map(_, map) {
      const pairs = new Map<string, Pair>();
      for (const pair of map.items) {
        // A location that names such a key would show its whole content.
        if (!isScalar(pair.key)) reportFault(pair.key, NON_STRING_KEY);
        else if (pairs.has(String(pair.key.value)))
          reportFault(pair.key, `the key ${formatValue(String(pair.key.value))} a second time`);
        else pairs.set(String(pair.key.value), pair);
      }
      pairsByKey.set(map, pairs);
    },
    Alias(_, alias) {
      if (alias.resolve(document) === undefined) reportFault(alias, UNKNOWN_ALIAS);
    },
  });
  const [fault] = faults.toSorted((one, other) => one.offset - other.offset);
  if (fault !== undefined) return reject(fault.offset, fault.found);
  try {
    return {
      value: document.toJS(),
      locate: (path = [], isKey = false) =>
        formatLocation(locateOffset(findOffset(document.contents, path, isKey, pairsByKey)), path),
    };
  } catch (error) {
    // The parser limits the expansion of nested aliases; aliases without an anchor were reported before.
    if (error instanceof ReferenceError) return reject(0, 'too many nested aliases');
    throw error;
  }
}

function getOffset(node: unknown): number {
  return isNode(node) ? (node.range?.[0] ?? 0) : 0;
}

function findOffset(root: unknown, path: ValuePath, isKey: boolean, pairsByKey: PairsByKey): number {
  let node = root;
  let offset = getOffset(root);
  for (const [depth, step] of path.entries()) {
    if (isSeq(node) && typeof step === 'number') {
      node = node.items[step];
      offset = getOffset(node);
      continue;
    }
    const pair = pairsByKey.get(node)?.get(String(step));
    if (pair === undefined) return offset;
    const isRequestedKey = isKey && depth === path.length - 1;
    offset = getOffset(isRequestedKey || isEmpty(pair.value) ? pair.key : pair.value);
    node = pair.value;
  }
  return offset;
}

/** Whether a value is empty, as in `key:`; it is located by its key. */
function isEmpty(node: unknown): boolean {
  return !isNode(node) || (isScalar(node) && node.range?.[0] === node.range?.[1]);
}

/** Formats a place and the path of the value there: `/etc/xvs.yml:7:13 poll.interval`. */
export function formatLocation(place: string, path: ValuePath = []): string {
  const name = path.reduce<string>((text, step) => text + formatPathStep(step, text), '');
  return `${place} ${name}`.trimEnd();
}

function formatPathStep(step: string | number, before: string): string {
  if (typeof step === 'number') return `[${step}]`;
  const word = /^[\w.-]+$/.test(step) ? step : formatValue(step);
  return before === '' ? word : `.${word}`;
}
