import { parseArgs } from 'node:util';
import { parseDuration } from '../config/units.ts';
import type { Size } from '../simulator/world.ts';

/** What `simulate` was asked for. */
export interface SimulateFlags {
  readonly help: boolean;
  readonly listen: { readonly host: string; readonly port: number };
  /** Shared secrets by service code. */
  readonly codes: ReadonlyMap<string, string>;
  /** The service codes that have a size of their own. */
  readonly sizes: ReadonlyMap<string, Size>;
  readonly users: number;
  readonly tasks: number;
  readonly seed: number;
  readonly clockToleranceMs: number;
  readonly gzip: boolean;
  readonly control: boolean;
}

/** A flag that cannot be used. The message is one line and holds no secret. */
export class FlagError extends Error {
  override readonly name = 'FlagError';

  constructor(place: string, expected: string, found: string) {
    super(`${place}: expected ${expected}, found ${found}`);
  }
}

/** Reads the flags of `simulate`. Throws a `FlagError`. */
export function parseSimulateFlags(args: readonly string[]): SimulateFlags {
  const values = parseValues(args);
  const users = parseInteger('--users', values.users);
  const tasks = parseInteger('--tasks', values.tasks);
  const codes = parseServiceCodes(values['service-code'], { users, tasks });
  return {
    help: values.help,
    listen: parseListenAddress(values['listen-address']),
    codes: new Map(codes.map(({ serviceCode, secret }) => [serviceCode, secret])),
    sizes: new Map(codes.map(({ serviceCode, size }) => [serviceCode, size])),
    users,
    tasks,
    seed: parseInteger('--seed', values.seed),
    clockToleranceMs: readDuration('--clock-tolerance', values['clock-tolerance']),
    gzip: !values['no-gzip'],
    control: values.control,
  };
}

function parseValues(args: readonly string[]) {
  try {
    return parseArgs({
      args: [...args],
      strict: true,
      options: {
        'listen-address': { type: 'string', default: '127.0.0.1:20140' },
        'service-code': { type: 'string', multiple: true, default: ['TESTING:abc'] },
        users: { type: 'string', default: '1000' },
        tasks: { type: 'string', default: '100' },
        seed: { type: 'string', default: '1' },
        'clock-tolerance': { type: 'string', default: '5m' },
        'no-gzip': { type: 'boolean', default: false },
        control: { type: 'boolean', default: false },
        help: { type: 'boolean', default: false },
      },
    }).values;
  } catch (error) {
    throw explain(error);
  }
}

/** Says what `parseArgs` says, in one line and without arguments that are no flags: they may hold a secret. */
function explain(error: unknown): unknown {
  if (!(error instanceof TypeError) || !('code' in error)) return error;
  const flag = /--?[\w-]+/.exec(error.message)?.[0] ?? 'arguments';
  switch (error.code) {
    case 'ERR_PARSE_ARGS_UNKNOWN_OPTION':
      return new FlagError(flag, 'a known flag (see --help)', 'an unknown one');
    case 'ERR_PARSE_ARGS_UNEXPECTED_POSITIONAL':
      return new FlagError('arguments', 'only flags of the form --name=value', 'one that is no flag');
    case 'ERR_PARSE_ARGS_INVALID_OPTION_VALUE':
      return / argument missing| ambiguous/.test(error.message)
        ? new FlagError(flag, `a value, as in ${flag}=value`, 'none')
        : new FlagError(flag, 'no value', 'one');
    default:
      return error;
  }
}

interface ServiceCode {
  readonly serviceCode: string;
  readonly secret: string;
  readonly size: Size;
}

function parseServiceCodes(values: readonly string[], size: Size): readonly ServiceCode[] {
  const codes = values.map((value) => parseServiceCode(value, size));
  const names = codes.map(({ serviceCode }) => serviceCode);
  const double = names.find((name, index) => names.indexOf(name) !== index);
  if (double !== undefined) {
    throw new FlagError('--service-code', 'each service code once', `"${double}" twice`);
  }
  return codes;
}

function parseServiceCode(value: string, size: Size): ServiceCode {
  const [serviceCode = '', secret = '', sizes, ...more] = value.split(':');
  if (serviceCode === '' || secret === '' || more.length > 0) {
    // Without a colon in it, even the first part may be a secret.
    const found = value.includes(':') ? `"${serviceCode}:…"` : 'a value without a colon';
    throw new FlagError('--service-code', 'CODE:SECRET or CODE:SECRET:users=N,tasks=N', found);
  }
  return { serviceCode, secret, size: { ...size, ...parseSizes(serviceCode, sizes) } };
}

function parseSizes(serviceCode: string, text: string | undefined): Partial<Size> {
  if (text === undefined) return {};
  const pairs = text.split(',').map((pair) => /^(users|tasks)=(\d{1,9})$/.exec(pair));
  if (pairs.includes(null)) {
    // What stands here may be the rest of a secret that has a colon in it.
    throw new FlagError(
      `--service-code=${serviceCode}:…`,
      'users=N,tasks=N after the secret',
      'something else',
    );
  }
  return Object.fromEntries(pairs.map((pair) => [pair?.[1], Number(pair?.[2])]));
}

function parseListenAddress(text: string): SimulateFlags['listen'] {
  const [, ipv6, name, digits] = /^(?:\[([\da-f:.]+)\]|([^:[\]]+)):(\d{1,5})$/i.exec(text) ?? [];
  const host = ipv6 ?? name;
  const port = Number(digits);
  if (host === undefined || port > 65_535) {
    throw new FlagError('--listen-address', 'HOST:PORT, as in 127.0.0.1:20140', `"${text}"`);
  }
  return { host, port };
}

function parseInteger(flag: string, text: string): number {
  if (!/^\d{1,9}$/.test(text)) throw new FlagError(flag, 'an integer from 0 to 999999999', `"${text}"`);
  return Number(text);
}

function readDuration(flag: string, text: string): number {
  const ms = parseDuration(text);
  if (ms === undefined) {
    throw new FlagError(flag, 'a duration, as in 500ms, 15s, 5m or 1h, or 0 for none', `"${text}"`);
  }
  return ms;
}
