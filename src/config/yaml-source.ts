import { Composer, Document, isMap, isNode, isScalar, isSeq, Lexer, LineCounter, Parser, visit } from 'yaml';
import type { CST, ErrorCode, Pair } from 'yaml';
import { createProblem, formatValue, MAX_SHOWN_CHARS, type Problem } from './config-error.ts';
import type { Locate, ValuePath } from './validation.ts';

/** A parsed YAML or JSON text with the locations of its parts. */
export interface YamlSource {
  readonly value: unknown;
  /** `/etc/xvs.yml:7:13 poll.interval`, of a value or its key; if missing, of what encloses it. */
  readonly locate: Locate;
}

/** Parsing takes about a second for each MiB, in one turn of the event loop, and 200 times the memory. */
const MAX_YAML_CHARACTERS = 256 * 1024;
const JSON_REMEDY = 'list service codes in JSON files, which can have 4 MiB';
/** The composer recurses. Where V8 compiles an expression at the end of the stack, it ends the process. */
const MAX_LEVELS = 64;
const TOO_MANY_LEVELS = `more than ${MAX_LEVELS} levels; check brackets and indentation`;

/** Texts of parser errors. The parser's own messages quote the source, which may contain a secret. */
const PARSER_ERROR_TEXTS: Partial<Record<ErrorCode, string>> = {
  BAD_INDENT: 'inconsistent indentation; check the indentation',
  BAD_SCALAR_START: 'an unquoted string that starts with a reserved character',
  BLOCK_AS_IMPLICIT_KEY:
    'a second ": " in one line, or a line that is indented too far; put the string in quotes, or check the indentation',
  MISSING_CHAR: 'a missing quote, bracket, comma or ":"; check the indentation, too',
  TAB_AS_INDENT: 'a tab used for indentation; check the indentation: only spaces indent',
  TAG_RESOLVE_FAILED: 'an unknown tag; put a string that starts with "!" in quotes',
};
const UNKNOWN_ALIAS = 'an alias without an anchor; put a string that starts with "*" in quotes';
const NON_STRING_KEY =
  'a key that is not a string; put a key that starts with "?", "[", "{" or "*" in quotes';
const TOO_MANY_ALIASES = 'more than 100 aliases of one anchor, where aliases of aliases are multiplied';
const OTHER_ERROR =
  'unexpected content; put strings with special characters in quotes, and check the indentation';

/** A mistake in the text, and its place. */
interface Fault {
  readonly offset: number;
  readonly found: string;
}

/** Searching pairs one by one for each of thousands of mistakes would take minutes. */
type PairsByKey = ReadonlyMap<unknown, ReadonlyMap<string, Pair>>;

/** Reports only the first syntax error: most others follow from it. `failsafe` keeps scalars as strings. */
export function parseYaml(
  text: string,
  file: string,
  schema: 'core' | 'failsafe' = 'core',
): YamlSource | Problem {
  if (text.length > MAX_YAML_CHARACTERS)
    return createProblem(file, 'at most 256 KiB of YAML', 'more', JSON_REMEDY);
  // Decoded as UTF-8, it begins with two replacement characters, or every second character is NUL.
  if (/^\uFFFD\uFFFD|\0/.test(text)) return createProblem(file, 'UTF-8', 'UTF-16', 'save the file as UTF-8');
  const lineCounter = new LineCounter();
  const locateOffset = (offset: number): string => {
    const { line, col } = lineCounter.linePos(offset);
    return `${file}:${line}:${col}`;
  };
  const reject = (offset: number, found: string): Problem =>
    createProblem(locateOffset(offset), 'valid YAML', found);
  const tokens: CST.Token[] = [];
  const parser = new Parser(lineCounter.addNewLine);
  lineCounter.addNewLine(0);
  for (const lexeme of new Lexer().lex(text)) {
    for (const token of parser.next(lexeme)) tokens.push(token);
    if (parser.stack.length > MAX_LEVELS) return reject(parser.offset, TOO_MANY_LEVELS);
  }
  for (const token of parser.end()) tokens.push(token);
  // With `uniqueKeys`, the library compares each key with each other one.
  const composer = new Composer({ schema, uniqueKeys: false, logLevel: 'error' });
  const [document = new Document(undefined), second] = composer.compose(tokens, true, text.length);
  const faults = [...document.errors, ...document.warnings].map(({ code, pos: [offset] }): Fault => ({
    offset,
    found: PARSER_ERROR_TEXTS[code] ?? OTHER_ERROR,
  }));
  const reportFault = (node: unknown, found: string) => faults.push({ offset: getOffset(node), found });
  if (second !== undefined) faults.push({ offset: second.range[0], found: 'a second document' });
  // To resolve an alias, the library visits the whole document.
  const anchors = new Set<string | undefined>();
  const pairsByKey = new Map<unknown, ReadonlyMap<string, Pair>>();
  visit(document, {
    Value(_, node) {
      anchors.add(node.anchor);
      if (!isMap(node)) return;
      const pairs = new Map<string, Pair>();
      for (const pair of node.items) {
        const key = isScalar(pair.key) ? String(pair.key.value) : undefined;
        // A location that names such a key would show its whole content.
        if (key === undefined) reportFault(pair.key, NON_STRING_KEY);
        else if (pairs.has(key)) reportFault(pair.key, `the key ${formatValue(key)} a second time`);
        else pairs.set(key, pair);
      }
      pairsByKey.set(node, pairs);
    },
    Alias(_, alias) {
      if (!anchors.has(alias.source)) reportFault(alias, UNKNOWN_ALIAS);
    },
  });
  const [fault] = faults.toSorted((one, other) => one.offset - other.offset);
  if (fault !== undefined) return reject(fault.offset, fault.found);
  try {
    return {
      value: document.toJS(),
      locate: (path = [], isKey = false) => {
        const node = findNode(document.contents, path, isKey, pairsByKey);
        return formatLocation(locateOffset(getOffset(node)), path);
      },
    };
  } catch (error) {
    // The parser limits the expansion of aliases; aliases without an anchor were reported before.
    if (error instanceof ReferenceError) return reject(0, TOO_MANY_ALIASES);
    throw error;
  }
}

function getOffset(node: unknown): number {
  return isNode(node) ? (node.range?.[0] ?? 0) : 0;
}

/** The node of a value, or its key if that is asked for or the value is empty, as in `key:`. */
function findNode(
  node: unknown,
  [step, ...rest]: ValuePath,
  isKey: boolean,
  pairsByKey: PairsByKey,
): unknown {
  if (isSeq(node) && typeof step === 'number') return findNode(node.items[step], rest, isKey, pairsByKey);
  const pair = pairsByKey.get(node)?.get(String(step));
  if (step === undefined || pair === undefined) return node;
  const { key, value } = pair;
  const isEmpty = !isNode(value) || (isScalar(value) && value.range?.[0] === value.range?.[1]);
  return isEmpty || (isKey && rest.length === 0) ? key : findNode(value, rest, isKey, pairsByKey);
}

/** Formats a place and the path of the value there: `/etc/xvs.yml:7:13 poll.interval`. */
export function formatLocation(place: string, path: ValuePath = []): string {
  const steps = path.map((step) => {
    if (typeof step === 'number') return `[${step}]`;
    const isWord = step.length <= MAX_SHOWN_CHARS && /^[\w.-]+$/.test(step);
    return `.${isWord ? step : formatValue(step)}`;
  });
  return `${place} ${steps.join('').replace(/^\./, '')}`.trimEnd();
}
