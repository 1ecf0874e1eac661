import { parseArgs } from 'node:util';
import {
  createProblem,
  formatSuggestion,
  formatValue,
  throwIfAny,
  type Problem,
} from '../config/config-error.ts';
import { describeSchema, listSettings, SETTINGS, toFlagName } from '../config/settings.ts';
import type { Setting, SettingPath } from '../config/settings.ts';
import type { Flags } from '../config/sources.ts';
import { COMMANDS } from './help.ts';

/**
 * How a flag is written. A `value` and each entry of a `list` follow "=" or the next space; only a `list` may
 * be repeated. A `boolean` alone means `true`, after `no-` `false`. A `switch` takes no value; a `secret` is
 * rejected.
 */
type FlagKind = 'value' | 'list' | 'boolean' | 'switch' | 'secret';

const SEE_HELP = 'see --help';
const SECRET_REMEDY =
  'every user of the machine can see it: set XVS_SECRET, --secret-file, or a secret in the file instead';

/**
 * The texts of each flag that is set, by its name without dashes; `-h` is `help`. Throws a ConfigError with
 * every mistake: the strict mode of `parseArgs` stops at the first one, and quotes values of `--secret`.
 */
function readFlags(
  args: readonly string[],
  kinds: ReadonlyMap<string, FlagKind>,
): ReadonlyMap<string, readonly string[]> {
  const values = new Map<string, readonly string[]>();
  const problems: Problem[] = [];
  const report = (location: string, expected: string, found: string, remedy?: string): void => {
    problems.push(createProblem(location, expected, found, remedy));
  };
  const names = [...kinds].flatMap(([name, kind]) => (kind === 'secret' ? [] : [`--${name}`]));
  for (const token of tokenize(args, kinds)) {
    if (token.kind === 'option-terminator') continue;
    const argument = args[token.index] ?? '';
    const position = `command line, argument ${token.index + 1}`;
    if (token.kind === 'positional') {
      const isCommand = token.index > 0 && COMMANDS.some(([name]) => name === argument);
      const remedy = isCommand ? `commands come first: xvs-exporter ${argument}` : SEE_HELP;
      report(position, 'a flag', formatValue(argument), remedy);
      continue;
    }
    const isNegated = kinds.get(token.name.replace(/^no-/, '')) === 'boolean' && token.name.startsWith('no-');
    const name = isNegated ? token.name.slice(3) : token.name;
    const kind = kinds.get(name);
    const location = `flag --${token.name}`;
    if (argument !== '-h' && !argument.startsWith('--')) {
      const [flag = ''] = argument.split('=');
      report(position, 'two dashes before a flag', 'one', formatSuggestion(`-${flag}`, names) ?? SEE_HELP);
    } else if (kind === undefined) {
      const suggestion = formatSuggestion(token.rawName, names) ?? SEE_HELP;
      report(location, 'a known flag', 'an unknown one', suggestion);
    } else if (kind === 'secret') {
      report(location, 'no secret on the command line', 'one (not shown)', SECRET_REMEDY);
    } else if ((kind === 'switch' || isNegated) && token.value !== undefined) {
      report(location, 'no value', formatValue(token.value));
    } else if (kind === 'switch') {
      values.set(name, []);
    } else {
      const value = token.value ?? (kind === 'boolean' ? String(!isNegated) : undefined);
      const isMissing = value === undefined || (token.inlineValue === false && value.startsWith('-'));
      if (isMissing) report(location, 'a value', 'none');
      else if (kind !== 'list' && values.has(name)) report(location, 'the flag once', 'it twice');
      else values.set(name, [...(values.get(name) ?? []), value]);
    }
  }
  throwIfAny(problems);
  return values;
}

function tokenize(args: readonly string[], kinds: ReadonlyMap<string, FlagKind>) {
  const withValue = [...kinds].filter(([, kind]) => ['value', 'list', 'secret'].includes(kind));
  const options = Object.fromEntries(withValue.map(([name]) => [name, { type: 'string' as const }]));
  // `parseArgs` would take `-abc` for three flags.
  const dashed = args.map((argument) => argument.replace(/^-h$/, '--help').replace(/^-(?=[^-])/, '--'));
  return parseArgs({ args: dashed, options, strict: false, tokens: true }).tokens;
}

/** The command line of a command that takes settings. */
export interface CommandLine {
  /** Texts of the settings; the values of a repeated flag are joined by commas. */
  readonly flags: Flags;
  /** The values of the other flags that are set; none for a switch. */
  readonly others: ReadonlyMap<string, readonly string[]>;
}

export type OwnFlags = Readonly<Record<string, FlagKind>>;

const SHARED_FLAGS: OwnFlags = { 'config.check': 'switch', version: 'switch', help: 'switch' };

/** `own` are further flags of the command. A ConfigError lists every mistake; values are not checked yet. */
export function parseCommandLine(args: readonly string[], own: OwnFlags = {}): CommandLine {
  const kinds = new Map(Object.entries({ ...SHARED_FLAGS, ...own }));
  const paths = new Map(listSettings().map(([path]) => [toFlagName(path).slice(2), path]));
  for (const [name, path] of paths) kinds.set(name, getFlagKind(SETTINGS[path]));
  const flags = new Map<SettingPath, string>();
  const others = new Map<string, readonly string[]>();
  for (const [name, texts] of readFlags(args, kinds)) {
    const path = paths.get(name);
    if (path === undefined) others.set(name, texts);
    else flags.set(path, texts.join(','));
  }
  return { flags, others };
}

function getFlagKind({ schema, excludedSource }: Setting): FlagKind {
  const { isList, isBoolean } = describeSchema(schema);
  if (excludedSource === 'flag') return 'secret';
  return isList ? 'list' : isBoolean ? 'boolean' : 'value';
}
