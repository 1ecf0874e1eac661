import { describeSchema, listSettingGroups, toEnvironmentName, toFlagName } from '../config/settings.ts';
import type { Setting, SettingPath } from '../config/settings.ts';
import { wrapText } from '../runtime/output.ts';

export const COMMANDS = [
  ['serve', 'Poll the service and serve metrics. This is the default command.'],
  ['once', 'Poll once, print the metrics and exit: with 1 if a service code failed.'],
  ['healthcheck', 'Check whether the exporter on this machine is healthy: exit with 0 if so, else 1.'],
] as const;

/** Flags of `once` alone. */
const ONCE_FLAGS = [
  [
    '--explain',
    'Instead of metrics, print what happened in each poll, what tasks.name can find, and remedies for failures.',
  ],
  [
    '--try-signing',
    'Explain and, if the service rejects the request, try other signatures; print the accepted settings.',
  ],
  ['--only=<service code>', 'Poll only this service code of the configuration. May be repeated.'],
] as const;

/** Flags that are not settings. */
export const SWITCHES: readonly (readonly [flag: string, meaning: string])[] = [
  ['--config.check', 'Check the configuration, print every setting with its value and origin, and exit.'],
  ...ONCE_FLAGS.map(([flag, meaning]) => [flag, `Only with once. ${meaning}`] as const),
  ['--version', 'Print the version and exit.'],
  ['-h, --help', 'Print this help and exit.'],
];

export const PRECEDENCE =
  'Flags override environment variables, and environment variables override the configuration file.';

export const EXAMPLES = [
  ['Run with a configuration file', 'xvs-exporter --config.file=/etc/xvs-exporter/config.yml'],
  ['Check a configuration file', 'xvs-exporter --config.check --config.file=config.yml'],
  [
    'Find out why a service code fails',
    'xvs-exporter once --explain --only=TESTING --config.file=config.yml',
  ],
] as const;

/** Also in README.md. systemd tries again after 1. */
export const EXIT_CODES = [
  ['0', 'The command succeeded, or SIGTERM or SIGINT ended it.'],
  [
    '1',
    'It failed for a reason that can pass: an address in use, a name server that does not answer, a locked state, a full disk, a failed poll of once, an unhealthy exporter, an unexpected error.',
  ],
  ['2', 'The same command line and configuration can never work; standard error says where and why.'],
] as const;

const WIDTH = 100;
const INDENT = '        ';

/** Formats the text of `once --help`. */
export function formatOnceHelp(): string {
  return [
    'Usage: xvs-exporter once [--explain] [--try-signing] [--only=<service code>] [flags]',
    '',
    'Polls every service code once and prints the metrics. Exits with 1 if a service code failed.',
    '',
    ...ONCE_FLAGS.flatMap(([flag, meaning]) => formatFlag(flag, meaning)),
    '',
    'All flags of xvs-exporter --help apply, too.',
    '',
  ].join('\n');
}

/** Formats the text of `--help`: every flag by group, with its default and its environment variable. */
export function formatHelp(): string {
  return [
    'Usage: xvs-exporter [command] [flags]',
    '',
    ...COMMANDS.map(([name, doc]) => `  ${name.padEnd(12)}${doc}`),
    '',
    PRECEDENCE,
    ...listSettingGroups().flatMap(({ title, settings }) => [
      '',
      `${title}:`,
      ...settings.flatMap(([path, setting]) =>
        formatFlag(formatUsage(path, setting), formatMeaning(path, setting)),
      ),
    ]),
    '',
    'Other flags:',
    ...SWITCHES.flatMap(([flag, meaning]) => formatFlag(flag, meaning)),
    '',
    'Examples:',
    ...EXAMPLES.flatMap(([purpose, command]) => [`  ${purpose}:`, `    ${command}`]),
    '',
  ].join('\n');
}

/** Formats a setting as a flag: `--log.level=<debug, info, warn, error>`. */
export function formatUsage(path: SettingPath, { excludedSource, schema }: Setting): string {
  return excludedSource === 'flag' ? '(no flag)' : `${toFlagName(path)}=<${describeSchema(schema).typeName}>`;
}

/** Formats the meaning of a setting in plain text, with its variable and its default. */
export function formatMeaning(path: SettingPath, { doc, default: value, defaultText }: Setting): string {
  const fallback = value === undefined ? defaultText : `default ${value}`;
  const notes = [toEnvironmentName(path), ...(fallback === undefined ? [] : [fallback])].join(', ');
  return `${doc} [${notes}]`.replaceAll('`', '');
}

function formatFlag(usage: string, meaning: string): readonly string[] {
  return [`  ${usage}`, ...wrapText(meaning, WIDTH - INDENT.length).map((line) => INDENT + line)];
}
