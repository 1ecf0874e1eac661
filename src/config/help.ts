import { environmentName, flagName, groupOf } from './names.ts';
import type { Setting, SettingPath } from './settings.ts';
import { settingEntries } from './settings.ts';

const COMMANDS = [
  ['serve', 'Poll, and serve what is found; the command where none is given.'],
  ['once', 'Poll once, print the exposition and end: with 1 if a service code failed.'],
  ['simulate', 'Run a simulation of the service; it has flags of its own, see simulate --help.'],
  ['demo', 'Run a simulation and an exporter that polls it.'],
  ['healthcheck', 'Ask the exporter of this machine whether it is healthy: 0 if so, else 1.'],
] as const;

const COMMAND_LINE = [
  ['--config.check', 'Read the configuration and say what was understood.'],
  ['--version', 'Print the version.'],
  ['-h, --help', 'Print this text.'],
] as const;

/** The text of `--help`: every flag by group, with its default and its name in the environment. */
export function helpText(): string {
  return [
    'Usage: xvs-exporter [command] [flags]',
    '',
    ...COMMANDS.map(([name, doc]) => `  ${name.padEnd(12)}${doc}`),
    '',
    'A flag wins over its environment variable, that over the configuration file.',
    ...settingGroups().flatMap(({ title, settings }) => ['', `${title}:`, ...settings.flatMap(settingLines)]),
    '',
    'And end at once:',
    ...COMMAND_LINE.flatMap(([flag, doc]) => [`  ${flag}`, `        ${doc}`]),
    '',
  ].join('\n');
}

/** Settings that share the first part of their key, in the order of the table. */
export interface SettingGroup {
  /** First part of the key; empty for keys that stand alone. */
  readonly name: string;
  readonly title: string;
  readonly settings: readonly (readonly [SettingPath, Setting])[];
}

const TITLES: ReadonlyMap<string, string> = new Map([
  ['upstream', 'The service and the way to it'],
  ['signing', 'Signatures of requests'],
  ['', 'Service codes and secrets'],
  ['poll', 'Polls'],
  ['metrics', 'Metrics'],
  ['state', 'What outlives the process'],
  ['web', 'The web server of the exporter'],
  ['log', 'Logs'],
  ['config', 'The configuration itself'],
]);

/** The table of settings in groups. */
export function settingGroups(): readonly SettingGroup[] {
  const settings = settingEntries();
  const names = new Set(settings.map(([path]) => groupOf(path)));
  return [...names].map((name) => ({
    name,
    title: TITLES.get(name) ?? name,
    settings: settings.filter(([path]) => groupOf(path) === name),
  }));
}

function settingLines([path, setting]: readonly [SettingPath, Setting]): readonly string[] {
  const fallback = setting.default === undefined ? setting.otherwise : `default ${setting.default}`;
  const notes = [environmentName(path), ...(fallback === undefined ? [] : [fallback])].join(', ');
  const usage = setting.notFrom === 'flag' ? '(no flag)' : `${flagName(path)}=<${setting.format.name}>`;
  return [`  ${usage}`, `        ${setting.doc.replaceAll('`', '')} [${notes}]`];
}
