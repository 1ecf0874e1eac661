import assert from 'node:assert/strict';
import { test } from 'node:test';
import { parseCommandLine } from '../../../src/commands/command-line.ts';
import { catchConfigErrorMessage, SECRET } from '../../support/configuration.ts';

/** Arguments, and what they set: settings, and other flags. */
const PARSED: readonly [string, readonly string[], Record<string, string>, Record<string, string[]>?][] = [
  ['without arguments nothing is set', [], {}],
  [
    'a value follows "=" or is the next argument',
    ['--poll.interval=5s', '--config.file', '/etc/xvs.yml'],
    { 'poll.interval': '5s', 'config.file': '/etc/xvs.yml' },
  ],
  [
    'a value may contain "=" and may be empty',
    ['--signing.template=a={timestamp}', '--web.telemetry-path='],
    { 'signing.template': 'a={timestamp}', 'web.telemetry_path': '' },
  ],
  [
    'the values of a repeated list flag are joined',
    ['--web.listen-address=:1', '--web.listen-address', '[::1]:2,:3'],
    { 'web.listen_address': ':1,[::1]:2,:3' },
  ],
  ['a boolean setting does not need a value', ['--metrics.per-task'], { 'metrics.per_task': 'true' }],
  ['a boolean setting may have a value', ['--metrics.per-task=false'], { 'metrics.per_task': 'false' }],
  [
    'switches take no value, and -h is --help',
    ['--config.check', '--version', '-h'],
    {},
    { 'config.check': [], version: [], help: [] },
  ],
  [
    'a list of one command may be repeated, and is no setting',
    ['--only=A', '--only', 'B,C'],
    {},
    { only: ['A', 'B,C'] },
  ],
];

for (const [name, args, flags, others = {}] of PARSED) {
  test(name, () => {
    const parsed = parseCommandLine(args, { only: 'list' });
    assert.deepEqual(parsed, {
      flags: new Map(Object.entries(flags)),
      others: new Map(Object.entries(others)),
    });
  });
}

test('a switch of one command is unknown to the others', async () => {
  assert.deepEqual([...parseCommandLine(['--explain'], { explain: 'switch' }).others.keys()], ['explain']);
  assert.equal(
    await catchConfigErrorMessage(() => parseCommandLine(['--explain'])),
    'flag --explain: expected a known flag, found an unknown one; see --help',
  );
  assert.equal(
    await catchConfigErrorMessage(() => parseCommandLine(['--explan'], { explain: 'switch' })),
    'flag --explan: expected a known flag, found an unknown one; did you mean --explain?',
  );
});

const mistakes: readonly (readonly [args: readonly string[], message: string])[] = [
  [
    ['--poll.intervall=5s'],
    'flag --poll.intervall: expected a known flag, found an unknown one; did you mean --poll.interval?',
  ],
  [
    ['--web.listen_address=:1'],
    'flag --web.listen_address: expected a known flag, found an unknown one; did you mean --web.listen-address?',
  ],
  [
    ['--secret', SECRET],
    'flag --secret: expected no secret on the command line, found one (not shown); every user of the machine can see it: set XVS_SECRET, --secret-file, or a secret in the file instead',
  ],
  [[`-p${SECRET}`], 'command line, argument 1: expected two dashes before a flag, found one; see --help'],
  [
    ['-config.file=/etc/xvs.yml'],
    'command line, argument 1: expected two dashes before a flag, found one; did you mean --config.file?',
  ],
  [['--log.level'], 'flag --log.level: expected a value, found none'],
  [['--config.check=yes'], 'flag --config.check: expected no value, found "yes"'],
  [['--log.level=info', '--log.level=warn'], 'flag --log.level: expected the flag once, found it twice'],
  [['--', '--version'], 'command line, argument 2: expected a flag, found "--version"; see --help'],
  [
    ['--a=1', 'b', '--log.level'],
    [
      'flag --a: expected a known flag, found an unknown one; see --help',
      'command line, argument 2: expected a flag, found "b"; see --help',
      'flag --log.level: expected a value, found none',
    ].join('\n'),
  ],
];

for (const [args, expected] of mistakes) {
  test(`${args.join(' ').replace(SECRET, '…')} is rejected`, async () => {
    const message = await catchConfigErrorMessage(() => parseCommandLine(args));
    assert.equal(message, expected);
    assert.ok(!message.includes(SECRET));
  });
}
