import { settingGroups } from './groups.ts';
import { meaningOf, usageOf } from './help.ts';
import { COMMANDS, EXAMPLES, EXIT_CODES, PRECEDENCE, SWITCHES } from './manual.ts';

/** The manual page, in the man macros of roff (man(7)): what `man/xvs-exporter.1` holds. */
export function manPage(): string {
  return [
    '.TH XVS\\-EXPORTER 1 "" xvs\\-exporter "User Commands"',
    // Names of variables must not be hyphenated: they are there to be copied.
    '.nh',
    '.ad l',
    '.SH NAME',
    text('xvs-exporter - Prometheus exporter for a live-video streaming and transcoding service'),
    '.SH SYNOPSIS',
    '.B xvs\\-exporter',
    text('[command] [flags]'),
    '.SH DESCRIPTION',
    text(
      'Polls the task_list operation of the service for a set of service codes, and serves what it learns',
    ),
    text('to Prometheus on /metrics.'),
    '.SH COMMANDS',
    ...COMMANDS.flatMap(([name, doc]) => entry(name, doc)),
    '.SH OPTIONS',
    text(PRECEDENCE),
    ...settingGroups().flatMap(({ title, settings }) => [
      `.SS "${text(title)}"`,
      ...settings.flatMap(([path, setting]) => entry(usageOf(path, setting), meaningOf(path, setting))),
    ]),
    '.SS "Flags that are no settings"',
    ...SWITCHES.flatMap(([flag, doc]) => entry(flag, doc)),
    '.SH ENVIRONMENT',
    text(
      'Every setting has a variable: it stands in brackets behind what the setting means. Proxies come from',
    ),
    text('http_proxy, https_proxy and no_proxy, or the same in upper case.'),
    '.SH EXIT STATUS',
    ...EXIT_CODES.flatMap(([code, doc]) => entry(code, doc)),
    '.SH EXAMPLES',
    ...EXAMPLES.flatMap(([purpose, command], index) => [
      ...(index === 0 ? [] : ['.PP']),
      `${text(purpose)}:`,
      '.PP',
      '.RS 4',
      '.nf',
      text(command),
      '.fi',
      '.RE',
    ]),
    '.SH SEE ALSO',
    '.BR prometheus (1)',
    '',
  ].join('\n');
}

/** A tagged paragraph. */
function entry(tag: string, doc: string): readonly string[] {
  return ['.TP', `.B "${text(tag)}"`, text(doc)];
}

/** Text as roff takes it: hyphens that stay hyphens, no line that is taken for a request. */
function text(plain: string): string {
  return plain
    .replaceAll('\\', '\\e')
    .replaceAll('-', '\\-')
    .replaceAll('"', '\\(dq')
    .replace(/^(?=[.'])/, '\\&');
}
