import { wrap } from '../wrapping.ts';
import { settingGroups } from './groups.ts';
import { COMMANDS, EXAMPLES, PRECEDENCE, SWITCHES } from './manual.ts';
import { environmentName, flagName } from './names.ts';
import type { Setting, SettingPath } from './settings.ts';

const WIDTH = 100;
const INDENT = '        ';

/** The text of `--help`: every flag by group, with its default and its name in the environment. */
export function helpText(): string {
  return [
    'Usage: xvs-exporter [command] [flags]',
    '',
    ...COMMANDS.map(([name, doc]) => `  ${name.padEnd(12)}${doc}`),
    '',
    PRECEDENCE,
    ...settingGroups().flatMap(({ title, settings }) => [
      '',
      `${title}:`,
      ...settings.flatMap(([path, setting]) => flagLines(usageOf(path, setting), meaningOf(path, setting))),
    ]),
    '',
    'Flags that are no settings:',
    ...SWITCHES.flatMap(([flag, doc]) => flagLines(flag, doc)),
    '',
    'Examples:',
    ...EXAMPLES.flatMap(([purpose, command]) => [`  ${purpose}:`, `    ${command}`]),
    '',
  ].join('\n');
}

/** How a setting is written on the command line. */
export function usageOf(path: SettingPath, { notFrom, format }: Setting): string {
  return notFrom === 'flag' ? '(no flag)' : `${flagName(path)}=<${format.name}>`;
}

/** What a setting means, in plain text, with its variable and its default. */
export function meaningOf(path: SettingPath, { doc, default: value, otherwise }: Setting): string {
  const fallback = value === undefined ? otherwise : `default ${value}`;
  const notes = [environmentName(path), ...(fallback === undefined ? [] : [fallback])].join(', ');
  return `${doc.replaceAll('`', '')} [${notes}]`;
}

function flagLines(usage: string, meaning: string): readonly string[] {
  return [`  ${usage}`, ...wrap(meaning, WIDTH - INDENT.length).map((line) => INDENT + line)];
}
