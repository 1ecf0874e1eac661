import { parseArgs } from 'node:util';
import type { Flags } from './layers.ts';
import { flagName } from './names.ts';
import { nearestHint } from './nearest.ts';
import type { Problem } from './problem.ts';
import { mismatch, show, throwIfAny } from './problem.ts';
import type { SettingPath } from './settings.ts';
import { SETTINGS, settingEntries } from './settings.ts';

/** What the command line asks for. */
export interface CommandLine {
  /** Settings; of a flag that may be repeated, the values with commas between them. */
  readonly flags: Flags;
  /** `--config.check`: read the configuration, say what it is, and end. */
  readonly check: boolean;
  readonly version: boolean;
  readonly help: boolean;
  /** Switches of the command's own that are set. */
  readonly switches: ReadonlySet<string>;
}

/** What one argument turned out to be. */
type Argument =
  | { readonly kind: 'setting'; readonly path: SettingPath; readonly value: string }
  | { readonly kind: 'switch'; readonly name: string }
  | ({ readonly kind: 'problem' } & Problem);

type Token = ReturnType<typeof tokenize>[number];

/** What flags there are. */
interface Known {
  readonly paths: ReadonlyMap<string, SettingPath>;
  /** Flags that take no value. */
  readonly switches: readonly string[];
}

const SWITCHES = ['config.check', 'version', 'help'] as const;
const LISTS: readonly SettingPath[] = ['service_codes', 'service_code_files', 'web.listen_address'];

/**
 * Reads the arguments after the program's name. Flags are strict: unknown ones, and arguments that belong to
 * none, are mistakes.
 *
 * @param ownSwitches - flags without a value that the command has besides, such as `explain`
 * @throws ConfigError that lists them all.
 */
export function parseCommandLine(args: readonly string[], ownSwitches: readonly string[] = []): CommandLine {
  const known = { paths: flagPaths(), switches: [...SWITCHES, ...ownSwitches] };
  const tokens = tokenize(args, known.paths);
  const found = tokens.flatMap((token, index) => readToken(token, tokens[index - 1], args, known));
  const settings = found.filter((argument) => argument.kind === 'setting');
  throwIfAny([...found.filter((argument) => argument.kind === 'problem'), ...findRepeated(settings)]);
  const switches = new Set(found.flatMap((argument) => (argument.kind === 'switch' ? [argument.name] : [])));
  return {
    flags: joinValues(settings),
    check: switches.has('config.check'),
    version: switches.has('version'),
    help: switches.has('help'),
    switches: new Set(ownSwitches.filter((name) => switches.has(name))),
  };
}

/** Flags of settings, without dashes. `--secret` is among them to be told why it is none. */
function flagPaths(): ReadonlyMap<string, SettingPath> {
  return new Map(settingEntries().map(([path]) => [flagName(path).slice(2), path]));
}

/** Settings that are on or off: the flag stands alone, or with `=true` or `=false`. */
function isOnOff(path: SettingPath): boolean {
  return SETTINGS[path].default === 'true' || SETTINGS[path].default === 'false';
}

function tokenize(args: readonly string[], paths: ReadonlyMap<string, SettingPath>) {
  const withValue = [...paths].filter(([, path]) => !isOnOff(path));
  const options = Object.fromEntries(withValue.map(([name]) => [name, { type: 'string' as const }]));
  // With one dash, `-abc` would be three flags: they are read as with two, and refused by `readToken`.
  const dashed = args.map((argument) => argument.replace(/^-(?=[^-])/, '--'));
  return parseArgs({ args: dashed, options, strict: false, tokens: true }).tokens;
}

function readToken(
  token: Token,
  previous: Token | undefined,
  args: readonly string[],
  known: Known,
): readonly Argument[] {
  const { paths, switches } = known;
  if (token.kind === 'option-terminator') return [];
  const argument = args[token.index] ?? '';
  if (token.kind === 'positional') return isValueOfUnknown(previous, known) ? [] : [stray(argument)];
  if (argument === '-h') return [{ kind: 'switch', name: 'help' }];
  if (!argument.startsWith('--')) return [singleDash(argument, known)];
  const { name, rawName, value } = token;
  if (switches.includes(name)) {
    return [
      value === undefined ? { kind: 'switch', name } : problem(rawName, mismatch('no value', show(value))),
    ];
  }
  const path = paths.get(name);
  if (path === undefined) return [unknownFlag(rawName, known)];
  if (path === 'secret') return [secretFlag(rawName)];
  if (value === undefined && isOnOff(path)) return [{ kind: 'setting', path, value: 'true' }];
  const isMissing = value === undefined || (!token.inlineValue && value.startsWith('-'));
  if (isMissing) return [problem(rawName, mismatch('a value', 'none'))];
  return [{ kind: 'setting', path, value }];
}

/** What follows an unknown flag is most likely its value: told with it, and not shown, for it may be secret. */
function isValueOfUnknown(previous: Token | undefined, { paths, switches }: Known): boolean {
  if (previous?.kind !== 'option' || previous.value !== undefined) return false;
  return !paths.has(previous.name) && !switches.includes(previous.name) && previous.name !== 'h';
}

function joinValues(settings: readonly { path: SettingPath; value: string }[]): Flags {
  const flags = new Map<SettingPath, string>();
  for (const { path, value } of settings) {
    const before = flags.get(path);
    flags.set(path, before === undefined ? value : `${before},${value}`);
  }
  return flags;
}

function findRepeated(settings: readonly { path: SettingPath }[]): readonly Problem[] {
  const seen = new Set<SettingPath>();
  return settings.flatMap(({ path }) => {
    const isRepeated = seen.has(path) && !LISTS.includes(path);
    seen.add(path);
    return isRepeated ? [problem(flagName(path), mismatch('the flag once', 'it again'))] : [];
  });
}

function problem(flag: string, message: string): Argument & Problem {
  return { kind: 'problem', place: `flag ${flag}`, message };
}

function stray(value: string): Argument {
  return { kind: 'problem', place: 'command line', message: mismatch('nothing but flags', show(value)) };
}

function unknownFlag(flag: string, known: Known): Argument {
  return problem(flag, mismatch('a known flag', 'an unknown one', nearestFlag(flag, known) ?? 'see --help'));
}

/** The argument is not shown: `-pSECRET` is how some programs take a password. */
function singleDash(argument: string, known: Known): Argument {
  const [name = ''] = argument.split('=');
  const hint = nearestFlag(`-${name}`, known) ?? 'see --help';
  return {
    kind: 'problem',
    place: 'command line',
    message: mismatch('two dashes before a flag', 'one', hint),
  };
}

function nearestFlag(flag: string, { paths, switches }: Known): string | undefined {
  const settings = [...paths].flatMap(([name, path]) => (path === 'secret' ? [] : [name]));
  return nearestHint(
    flag,
    [...settings, ...switches].map((name) => `--${name}`),
  );
}

function secretFlag(flag: string): Argument {
  const remedy = 'every user of the machine sees it: set XVS_SECRET, --secret-file or a secret in the file';
  return problem(flag, mismatch('no secret on the command line', 'one (not shown)', remedy));
}
