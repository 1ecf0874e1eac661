/** One choice of an `Accept` or `Accept-Encoding` header, lower-cased but for the values of parameters. */
export interface Choice {
  /** A media range or a coding. */
  readonly value: string;
  readonly parameters: ReadonlyMap<string, string>;
  /** From 0, not acceptable, to 1. */
  readonly quality: number;
}

const TOKEN = "[!#$%&'*+.^_`|~0-9A-Za-z-]+";
const PARAMETER = `(${TOKEN})=(?:(${TOKEN})|"((?:[^"\\\\]|\\\\.)*)")`;
const QUALITY = /^(?:0(?:\.\d{0,3})?|1(?:\.0{0,3})?)$/;

/**
 * The choices of a header in their order (RFC 9110, 5.6 and 12.4); `undefined` where it is malformed. Every
 * pattern is tried at one place only and none can backtrack, so a hostile header costs no more than its length.
 */
export function parseChoices(header: string): readonly Choice[] | undefined {
  const next = scannerOf(header);
  const choices: Choice[] = [];
  do {
    const [value] = next(`${TOKEN}(?:/${TOKEN})?`) ?? [];
    const parameters = parseParameters(next);
    const quality = parameters.get('q') ?? '1';
    if (!QUALITY.test(quality)) return undefined;
    // An empty element of the list is allowed and means nothing; one that only has parameters is not.
    if (value === undefined && parameters.size > 0) return undefined;
    if (value !== undefined) {
      choices.push({ value: value.toLowerCase(), parameters, quality: Number(quality) });
    }
  } while (next(',') !== null);
  return next('$') === null ? undefined : choices;
}

/** Matches a pattern just where the last match ended, blanks before it skipped. */
type Scanner = (pattern: string) => RegExpExecArray | null;

function scannerOf(text: string): Scanner {
  let index = 0;
  const matchAt = (pattern: string): RegExpExecArray | null => {
    const sticky = new RegExp(pattern, 'y');
    sticky.lastIndex = index;
    const match = sticky.exec(text);
    if (match !== null) index = sticky.lastIndex;
    return match;
  };
  return (pattern) => {
    matchAt('[ \\t]*');
    return matchAt(pattern);
  };
}

function parseParameters(next: Scanner): ReadonlyMap<string, string> {
  const parameters = new Map<string, string>();
  while (next(';') !== null) {
    const match = next(PARAMETER);
    // A semicolon with nothing behind it is allowed (RFC 9110, 5.6.6).
    if (match === null) continue;
    const [, name = '', token, quoted = ''] = match;
    parameters.set(name.toLowerCase(), token ?? quoted.replaceAll(/\\(.)/g, '$1'));
  }
  return parameters;
}
