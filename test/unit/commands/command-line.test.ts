import assert from 'node:assert/strict';
import { test } from 'node:test';
import { parseCommandLine } from '../../../src/commands/command-line.ts';
import { catchConfigErrorMessage, SECRET } from '../../support/configuration.ts';

test('without arguments nothing is set', () => {
  assert.deepEqual(parseCommandLine([]), { flags: new Map(), others: new Map() });
});

test('a switch of one command is unknown to the others', async () => {
  assert.deepEqual([...parseCommandLine(['--explain'], { explain: 'switch' }).others.keys()], ['explain']);
  assert.equal(
    await catchConfigErrorMessage(() => parseCommandLine(['--explain'])),
    'command line, argument 1: expected a known flag, found an unknown one; see --help',
  );
  assert.equal(
    await catchConfigErrorMessage(() => parseCommandLine(['--explan'], { explain: 'switch' })),
    'flag --explan: expected a known flag, found an unknown one; did you mean --explain?',
  );
});

test('a list of one command may be repeated, and is no setting', () => {
  const { flags, others } = parseCommandLine(['--only=A', '--only', 'B,C'], { only: 'list' });
  assert.deepEqual([flags, others], [new Map(), new Map([['only', ['A', 'B,C']]])]);
});

test('a value follows "=" or is the next argument', () => {
  const { flags } = parseCommandLine(['--poll.interval=5s', '--config.file', '/etc/xvs.yml']);
  assert.deepEqual(
    [...flags],
    [
      ['poll.interval', '5s'],
      ['config.file', '/etc/xvs.yml'],
    ],
  );
});

test('a value may contain "=" and may be empty', () => {
  const { flags } = parseCommandLine(['--signing.template=a={timestamp}', '--web.telemetry-path=']);
  assert.deepEqual([flags.get('signing.template'), flags.get('web.telemetry_path')], ['a={timestamp}', '']);
});

test('the values of a repeated list flag are joined', () => {
  const { flags } = parseCommandLine(['--web.listen-address=:1', '--web.listen-address', '[::1]:2,:3']);
  assert.equal(flags.get('web.listen_address'), ':1,[::1]:2,:3');
});

test('a boolean setting does not need a value', () => {
  const values = ['--metrics.per-task', '--metrics.per-task=true', '--metrics.per-task=false'].map(
    (argument) => parseCommandLine([argument]).flags.get('metrics.per_task'),
  );
  assert.deepEqual(values, ['true', 'true', 'false']);
});

test('switches take no value, and -h is --help', () => {
  const { others } = parseCommandLine(['--config.check', '--version', '-h']);
  assert.deepEqual(
    [...others],
    [
      ['config.check', []],
      ['version', []],
      ['help', []],
    ],
  );
});

const mistakes: readonly (readonly [args: readonly string[], message: string])[] = [
  [
    ['--poll.intervall=5s'],
    'flag --poll.intervall: expected a known flag, found an unknown one; did you mean --poll.interval?',
  ],
  [['--colour=red'], 'command line, argument 1: expected a known flag, found an unknown one; see --help'],
  [
    ['--web.listen_address=:1'],
    'flag --web.listen_address: expected a known flag, found an unknown one; did you mean --web.listen-address?',
  ],
  [
    ['--no-metrics.per-task'],
    'flag --no-metrics.per-task: expected a known flag, found an unknown one; did you mean --metrics.per-task?',
  ],
  [
    ['--secrets', SECRET],
    'command line, argument 1: expected a known flag, found an unknown one; see --help',
  ],
  [
    ['--secret', SECRET],
    'flag --secret: expected no secret on the command line, found one (not shown); every user of the machine can see it: set XVS_SECRET, --secret-file, or a secret in the file instead',
  ],
  [
    [`--secret=${SECRET}`],
    'flag --secret: expected no secret on the command line, found one (not shown); every user of the machine can see it: set XVS_SECRET, --secret-file, or a secret in the file instead',
  ],
  [[`-p${SECRET}`], 'command line, argument 1: expected two dashes before a flag, found one; see --help'],
  [
    ['-config.file=/etc/xvs.yml'],
    'command line, argument 1: expected two dashes before a flag, found one; did you mean --config.file?',
  ],
  [['-help'], 'command line, argument 1: expected two dashes before a flag, found one; did you mean --help?'],
  [['--log.level'], 'flag --log.level: expected a value, found none'],
  [['--config.file', '--version'], 'flag --config.file: expected a value, found none'],
  [['--config.check=yes'], 'flag --config.check: expected no value, found one (not shown)'],
  [['--log.level=info', '--log.level=warn'], 'flag --log.level: expected the flag once, found it twice'],
  [[SECRET], 'command line, argument 1: expected a flag, found something else (not shown); see --help'],
  [
    ['--help', SECRET],
    'command line, argument 2: expected a flag, found something else (not shown); see --help',
  ],
  [
    ['--', '--version'],
    'command line, argument 2: expected a flag, found something else (not shown); see --help',
  ],
  [
    ['--metrics.per-task', 'false'],
    'command line, argument 2: expected a flag, found something else (not shown); see --help',
  ],
  [
    ['--a=1', 'b', '--log.level'],
    [
      'command line, argument 1: expected a known flag, found an unknown one; see --help',
      'command line, argument 2: expected a flag, found something else (not shown); see --help',
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
