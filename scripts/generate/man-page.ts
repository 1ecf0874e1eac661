import { COMMANDS, EXAMPLES, EXIT_CODES, FLAG_SECTIONS, PRECEDENCE } from '../../src/commands/help.ts';

/** The day of the last change that readers notice. */
const DATE = '2026-11-27';

/** Renders the manual page `man/xvs-exporter.1` with the man macros of roff (man(7)). */
export function renderManPage(): string {
  return [
    `.TH XVS\\-EXPORTER 1 "${DATE}" xvs\\-exporter "User Commands"`,
    // No hyphenation, so that names of variables can be copied.
    '.nh',
    '.ad l',
    '.SH NAME',
    escapeRoff('xvs-exporter - Prometheus exporter for a live-video streaming and transcoding service'),
    '.SH SYNOPSIS',
    '.B xvs\\-exporter',
    escapeRoff('[command] [flags]'),
    '.SH DESCRIPTION',
    escapeRoff(
      'Polls the task_list operation of the service for a set of service codes, and serves the results',
    ),
    escapeRoff('to Prometheus on /metrics.'),
    '.SH COMMANDS',
    ...COMMANDS.flatMap(formatTaggedParagraph),
    '.SH OPTIONS',
    escapeRoff(PRECEDENCE),
    ...FLAG_SECTIONS.flatMap(({ title, terms }) => [
      `.SS "${escapeRoff(title)}"`,
      ...terms.flatMap(formatTaggedParagraph),
    ]),
    '.SH ENVIRONMENT',
    escapeRoff(
      'Every setting has an environment variable, given in brackets after its description. Proxies are',
    ),
    escapeRoff('taken from http_proxy, https_proxy and no_proxy, in lower or upper case.'),
    '.SH EXIT STATUS',
    ...EXIT_CODES.flatMap(formatTaggedParagraph),
    '.SH EXAMPLES',
    ...EXAMPLES.flatMap(([purpose, command], index) => [
      ...(index === 0 ? [] : ['.PP']),
      `${escapeRoff(purpose)}:`,
      '.PP',
      '.RS 4',
      '.nf',
      escapeRoff(command),
      '.fi',
      '.RE',
    ]),
    '.SH SEE ALSO',
    '.BR prometheus (1)',
    '',
  ].join('\n');
}

function formatTaggedParagraph([tag, doc]: readonly [string, string]): readonly string[] {
  return ['.TP', `.B "${escapeRoff(tag)}"`, escapeRoff(doc)];
}

/** Escapes text for roff: hyphens stay hyphens, and no line becomes a request. */
function escapeRoff(plain: string): string {
  return plain
    .replaceAll('\\', '\\e')
    .replaceAll('-', '\\-')
    .replaceAll('"', '\\(dq')
    .replaceAll('×', '\\(mu')
    .replace(/^(?=[.'])/, '\\&');
}
