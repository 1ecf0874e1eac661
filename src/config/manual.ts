/** What the help and the manual page say besides the settings. */

export const COMMANDS = [
  ['serve', 'Poll, and serve what is found; the command where none is given.'],
  ['once', 'Poll once, print the exposition and end: with 1 if a service code failed.'],
  ['simulate', 'Run a simulation of the service; it has flags of its own, see simulate --help.'],
  ['demo', 'Run a simulation and an exporter that polls it.'],
  ['healthcheck', 'Ask the exporter of this machine whether it is healthy: 0 if so, else 1.'],
] as const;

/** Flags that are no settings. */
export const SWITCHES = [
  [
    '--config.check',
    'Read the configuration, say what was understood and where each value came from, and end.',
  ],
  [
    '--explain',
    'With once: print, in place of the metrics, what was to be seen of each poll, and what to try where it failed.',
  ],
  ['--version', 'Print the version, and end.'],
  ['-h, --help', 'Print this text, and end.'],
] as const;

export const PRECEDENCE = 'A flag wins over its environment variable, that over the configuration file.';

export const EXAMPLES = [
  ['Run with a file', 'xvs-exporter --config.file=/etc/xvs-exporter/config.yml'],
  ['See whether the file is right', 'xvs-exporter --config.check --config.file=config.yml'],
  ['See why a service code fails', 'xvs-exporter once --explain --config.file=config.yml'],
  ['Look around without a service', 'xvs-exporter demo'],
] as const;

export const EXIT_CODES = [
  ['0', 'It was ended, or did what it was to do.'],
  ['1', 'It failed: it cannot listen, a poll of once failed, healthcheck found nothing healthy.'],
  ['2', 'The command line or the configuration is wrong; each mistake is a line on standard error.'],
] as const;
