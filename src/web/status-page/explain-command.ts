const SHELL_SAFE = /^[\w@%+=:,./-]+$/;

/** The command line that explains one poll of a service code, for a POSIX shell. */
export function formatExplainCommand(serviceCode: string, configurationFile: string | undefined): string {
  const flags = [
    `--only=${serviceCode}`,
    ...(configurationFile === undefined ? [] : [`--config.file=${configurationFile}`]),
  ];
  return ['xvs-exporter once --explain', ...flags.map(quoteForShell)].join(' ');
}

function quoteForShell(argument: string): string {
  return SHELL_SAFE.test(argument) ? argument : `'${argument.replaceAll("'", "'\\''")}'`;
}
