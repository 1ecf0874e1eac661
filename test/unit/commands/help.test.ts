import assert from 'node:assert/strict';
import { test } from 'node:test';
import {
  COMMANDS,
  EXAMPLES,
  formatHelp,
  formatMeaning,
  formatUsage,
  SWITCHES,
  EXIT_CODES,
} from '../../../src/commands/help.ts';
import { listSettings } from '../../../src/config/settings.ts';
import { readRepositoryFile } from '../../support/repository.ts';

test('the help has every command, setting, switch and example, in 100 columns', () => {
  const help = formatHelp();
  for (const line of help.split('\n')) assert.ok(line.length <= 100, line);
  const words = help.replaceAll(/\s+/g, ' ');
  const settings = listSettings().map(
    ([path, setting]) => [formatUsage(path, setting), formatMeaning(path, setting)] as const,
  );
  for (const [name, meaning] of [...COMMANDS, ...settings, ...SWITCHES])
    assert.ok(words.includes(` ${name} ${meaning} `), name);
  for (const [purpose, command] of EXAMPLES) assert.ok(words.includes(` ${purpose}: ${command} `), purpose);
});

test('the help gives a setting its flag, its meaning, and its variable with the default', () => {
  assert.match(
    formatHelp(),
    /\n\nPolling:\n(?: .*\n)* {2}--poll\.interval=<duration>\n {8}Time between two polls of .* \[XVS_POLL_INTERVAL, default 15s\]\n/,
  );
  assert.match(formatHelp(), /\n {2}\(no flag\)\n {8}Shared secret .*\n {8}.* \[XVS_SECRET\]\n/);
});

test('README.md has the exit codes', () => {
  const text = readRepositoryFile('README.md').replaceAll(/ +/g, ' ');
  for (const [code, meaning] of EXIT_CODES) assert.ok(text.includes(`| ${code} | ${meaning} |`), code);
});
