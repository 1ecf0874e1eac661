import type { ErrorCode, Node, Pair } from 'yaml';
import { isAlias, isMap, isScalar, isSeq, LineCounter, parseDocument, visit } from 'yaml';
import type { InnerPath } from './format.ts';
import type { Problem } from './problem.ts';
import { mismatch } from './problem.ts';

/** A YAML (or JSON) text: its value, and where in the text each part of it stands. */
export interface YamlSource {
  readonly value: unknown;
  /** `/etc/xvs.yml:7:13` for the value at the path (or its key); for the nearest part around what is not there. */
  at(this: void, path: InnerPath, ofKey?: boolean): string;
}

/**
 * What the parser complains of, in words of our own: its messages quote the text, which may hold a secret.
 */
const FINDINGS: Partial<Record<ErrorCode, string>> = {
  BAD_INDENT: 'a line with another indentation than its neighbours',
  BAD_SCALAR_START: 'a text that must be in quotes for its first character',
  BLOCK_AS_IMPLICIT_KEY: 'a second ": " in one line; put the text in quotes',
  DUPLICATE_KEY: 'a key for the second time',
  MISSING_CHAR: 'a quote, bracket, comma or ":" missing',
  MULTIPLE_DOCS: 'a second document',
  TAB_AS_INDENT: 'a tab as indentation',
  TAG_RESOLVE_FAILED: 'an unknown tag; put a text that starts with "!" in quotes',
};
const UNKNOWN_ALIAS = 'an alias without its anchor; put a text that starts with "*" in quotes';

const TOO_MANY_ALIASES = Symbol('too many aliases');

interface Fault {
  readonly offset: number;
  readonly found: string;
}

export interface YamlOptions {
  /** `failsafe`: all scalars are texts, as they are written. */
  readonly schema?: 'core' | 'failsafe';
}

/** Reads a text; the first syntax error is the problem, for the others mostly follow from it. */
export function parseYaml(
  text: string,
  file: string,
  { schema = 'core' }: YamlOptions = {},
): YamlSource | Problem {
  const lines = new LineCounter();
  const options = { lineCounter: lines, prettyErrors: false, logLevel: 'error', schema } as const;
  const document = parseDocument(text, options);
  const place = (offset: number): string => {
    const { line, col } = lines.linePos(offset);
    return `${file}:${line}:${col}`;
  };
  const faults: Fault[] = [...document.errors, ...document.warnings].map(({ code, pos: [offset] }) => ({
    offset,
    found: FINDINGS[code] ?? 'something that does not fit here; put texts with special characters in quotes',
  }));
  visit(document, {
    Alias(_, alias) {
      if (alias.resolve(document) === undefined)
        faults.push({ offset: offsetOf(alias), found: UNKNOWN_ALIAS });
    },
  });
  const [fault] = faults.toSorted((a, b) => a.offset - b.offset);
  if (fault !== undefined)
    return { place: place(fault.offset), message: mismatch('valid YAML', fault.found) };
  const value = toValue(document);
  if (value === TOO_MANY_ALIASES) {
    return { place: place(0), message: mismatch('valid YAML', 'aliases that grow without bound') };
  }
  return { value, at: (path, ofKey = false) => place(offsetAt(document.contents, path, ofKey)) };
}

/** The parser refuses to unfold aliases of aliases beyond a limit; unknown ones were found before. */
function toValue(document: { toJS(): unknown }): unknown {
  try {
    return document.toJS();
  } catch (error) {
    if (error instanceof ReferenceError) return TOO_MANY_ALIASES;
    throw error;
  }
}

function offsetOf(node: unknown): number {
  return isMap(node) || isSeq(node) || isScalar(node) || isAlias(node) ? (node.range?.[0] ?? 0) : 0;
}

function offsetAt(root: Node | null, path: InnerPath, ofKey: boolean): number {
  let node: unknown = root;
  let offset = offsetOf(root);
  for (const [depth, step] of path.entries()) {
    if (isSeq(node) && typeof step === 'number') {
      node = node.items[step];
      offset = offsetOf(node);
      continue;
    }
    const pair = isMap(node) ? findPair(node.items, step) : undefined;
    if (pair === undefined) return offset;
    const isWanted = ofKey && depth === path.length - 1;
    offset = offsetOf(isWanted || isEmpty(pair.value) ? pair.key : pair.value);
    node = pair.value;
  }
  return offset;
}

/** `key:` and nothing more: the value has no place of its own, its key stands for it. */
function isEmpty(node: unknown): boolean {
  return (
    !isMap(node) && !isSeq(node) && !isAlias(node) && !(isScalar(node) && node.range?.[0] !== node.range?.[1])
  );
}

function findPair(items: readonly Pair[], key: string | number): Pair | undefined {
  return items.find((pair) => isScalar(pair.key) && String(pair.key.value) === String(key));
}
