import assert from 'node:assert/strict';
import { test } from 'node:test';
import { EXAMPLES, FLAG_SECTIONS, formatHelp } from '../../../src/commands/help.ts';

test('the help has every flag and example, in 100 columns', () => {
  const help = formatHelp();
  for (const line of help.split('\n')) assert.ok(line.length <= 100, line);
  const words = help.replaceAll(/\s+/g, ' ');
  for (const [flag, meaning] of FLAG_SECTIONS.flatMap(({ terms }) => terms))
    assert.ok(words.includes(` ${flag} ${meaning} `), flag);
  for (const [purpose, command] of EXAMPLES) assert.ok(words.includes(` ${purpose}: ${command} `), purpose);
});

test('the help gives a setting its flag, its meaning, and its variable with the default', () => {
  assert.match(
    formatHelp(),
    /\n\nPolling:\n(?: .*\n)* {2}--poll\.interval=<duration>\n {8}Time between two polls of .* \[XVS_POLL_INTERVAL, default 15s\]\n/,
  );
  assert.match(formatHelp(), /\n {2}\(no flag\)\n {8}Shared secret .*\n {8}.* \[XVS_SECRET\]\n/);
});
