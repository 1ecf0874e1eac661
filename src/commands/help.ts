import { describeSchema, listSettingGroups, toEnvironmentName, toFlagName } from '../config/settings.ts';
import type { Setting, SettingPath } from '../config/settings.ts';
import { wrapText } from '../runtime/output.ts';

export const COMMANDS = [
  ['serve', 'Poll the service and serve metrics. This is the default command.'],
  ['once', 'Poll once, print the metrics and exit: with 1 if a service code failed.'],
  [
    'healthcheck',
    'Check whether the exporter on this machine is healthy: exit with 0 if so, else 1. Its address comes from the flags, the environment and the configuration file; without flags, from those of process 1 if it is an exporter, as in a container. With passwords or client certificates, set web.open_probes.',
  ],
] as const;

const SWITCHES = [
  ['--config.check', 'Check the configuration, print the settings with their values and origins, and exit.'],
  [
    '--explain',
    'Only with once. Instead of metrics, print what happened in each poll, what tasks.name can find, what was found of expected names, and remedies for failures.',
  ],
  [
    '--for=<duration>',
    'Only with once. Explain and, if names are expected, poll twice, so far apart, to show their input rates.',
  ],
  [
    '--only=<service code>',
    'Only with once. Poll only this service code of the configuration. May be repeated.',
  ],
  ['--version', 'Print the version and exit.'],
  ['-h, --help', 'Print this help and exit.'],
] as const;

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

/** systemd tries again after 1. */
export const EXIT_CODES = [
  ['0', 'The command succeeded, or SIGTERM or SIGINT ended it.'],
  [
    '1',
    'It failed for a reason that can pass: an address in use, a name server that does not answer, a locked state, a full disk, a failed poll of once, an unhealthy exporter, an unexpected error.',
  ],
  ['2', 'The same command line and configuration can never work; standard error says where and why.'],
] as const;

interface HelpSection {
  readonly title: string;
  readonly terms: readonly (readonly [term: string, meaning: string])[];
}

/** Every flag: the settings by group, with their variables and defaults, then the others. */
export const FLAG_SECTIONS: readonly HelpSection[] = [
  ...listSettingGroups().map(({ title, settings }) => ({
    title,
    terms: settings.map(
      ([path, setting]) => [formatUsage(path, setting), formatMeaning(path, setting)] as const,
    ),
  })),
  { title: 'Other flags', terms: SWITCHES },
];

/** `--log.level=<debug, info, warn, error>` */
function formatUsage(path: SettingPath, { excludedSource, schema }: Setting): string {
  return excludedSource === 'flag' ? '(no flag)' : `${toFlagName(path)}=<${describeSchema(schema).typeName}>`;
}

function formatMeaning(path: SettingPath, { doc, default: value, defaultText }: Setting): string {
  const fallback = value === undefined ? defaultText : `default ${value}`;
  const notes = [toEnvironmentName(path), ...(fallback === undefined ? [] : [fallback])].join(', ');
  return `${doc} [${notes}]`.replaceAll('`', '');
}

const WIDTH = 100;
const INDENT = '        ';

/** Formats the text of `--help`, the same for each command. */
export function formatHelp(): string {
  const sections = [
    { title: 'Commands', terms: COMMANDS },
    ...FLAG_SECTIONS,
    { title: 'Exit codes', terms: EXIT_CODES },
  ];
  return [
    'Usage: xvs-exporter [command] [flags]',
    '',
    PRECEDENCE,
    ...sections.flatMap(({ title, terms }) => ['', `${title}:`, ...terms.flatMap(formatTerm)]),
    '',
    'Examples:',
    ...EXAMPLES.flatMap(([purpose, command]) => [`  ${purpose}:`, `    ${command}`]),
    '',
  ].join('\n');
}

function formatTerm([term, meaning]: readonly [string, string]): readonly string[] {
  return [`  ${term}`, ...wrapText(meaning, WIDTH - INDENT.length).map((line) => INDENT + line)];
}
