import assert from 'node:assert/strict';
import { test } from 'node:test';
import { PollChanges } from '../../src/poller/changes.ts';
import type { FailedListing } from '../../src/poller/fetch-listing.ts';
import type { InvalidCount } from '../../src/tally/listing-tally.ts';
import type { Snapshot } from '../../src/tally/snapshot.ts';
import { UpstreamError, type PollErrorReason, type UpstreamErrorDetails } from '../../src/upstream/errors.ts';
import { taskRecord, userRecord } from '../support/task-record.ts';
import { TallyRun } from '../support/tally-run.ts';
import { recordedLog } from './polling.ts';

function start() {
  const { logger, lines } = recordedLog();
  const changes = new PollChanges(logger);
  let seen = 0;
  /** The lines written since the last call, as level and message. */
  const news = (): string[] => {
    const fresh = lines.slice(seen).map(({ level, msg }) => `${level}: ${msg}`);
    seen = lines.length;
    return fresh;
  };
  return { changes, lines, news };
}

/** A good listing; `servers` is how many there are, of which two have places of their own. */
function good(servers = 1): Snapshot {
  const users = Array.from({ length: servers }, (_, index) => userRecord({ vsId: `server-${index}` }));
  return new TallyRun({ maxLabelSets: 2 }).list({ users, tasks: [taskRecord({ vsId: 'server-0' })] });
}

function failure({ ret, ...details }: UpstreamErrorDetails & { ret?: number } = {}): FailedListing {
  const error = new UpstreamError('http_status', 'Expected HTTP status 2xx, found another', details);
  return { error, ret, bytes: 0 };
}

const failed = (reason: PollErrorReason, message: string): FailedListing => ({
  error: new UpstreamError(reason, message),
  ret: undefined,
  bytes: 0,
});

const INVALID: readonly InvalidCount[] = [
  { record: 'user', reason: 'wrong_type', count: 2 },
  { record: 'task', reason: 'missing_field', count: 1 },
];

test('the first success is told at info, its repetition at debug', () => {
  const { changes, lines, news } = start();
  changes.succeeded(good(), [], 123.4);
  assert.deepEqual(lines, [{ level: 'info', msg: 'Poll succeeded', users: 1, tasks: 1, duration_ms: 123 }]);
  news();
  changes.succeeded(good(), [], 1);
  changes.succeeded(good(), [], 1);
  assert.deepEqual(news(), ['debug: Poll succeeded', 'debug: Poll succeeded']);
});

test('a failure is told at warn with what is known of it, its repetition at debug', () => {
  const { changes, lines, news } = start();
  const error = failure({ status: 503, ret: 12, retryAfterMs: 5000 });
  changes.failed(error, 7.6);
  assert.deepEqual(lines, [
    {
      level: 'warn',
      msg: 'Poll failed',
      reason: 'http_status',
      error: 'Expected HTTP status 2xx, found another',
      status: 503,
      ret: 12,
      retry_after_ms: 5000,
      duration_ms: 8,
    },
  ]);
  news();
  changes.failed(error, 1);
  assert.deepEqual(news(), ['debug: Poll failed']);
});

for (const [name, first, then] of [
  ['reason', failure(), failed('timeout', 'The poll took longer than it may')],
  ['status', failure({ status: 500 }), failure({ status: 503 })],
  ['ret', failure({ status: 500, ret: 1 }), failure({ status: 500, ret: 2 })],
] as const) {
  test(`a failure with another ${name} is a change`, () => {
    const { changes, news } = start();
    changes.failed(first, 1);
    changes.failed(then, 1);
    changes.failed(then, 1);
    assert.deepEqual(news(), ['warn: Poll failed', 'warn: Poll failed', 'debug: Poll failed']);
  });
}

test('a failure with another message alone is no change: a byte at fault moves from poll to poll', () => {
  const { changes, news } = start();
  changes.failed(failed('not_json', 'Expected a value at byte 5'), 1);
  changes.failed(failed('not_json', 'Expected a value at byte 7'), 1);
  assert.deepEqual(news(), ['warn: Poll failed', 'debug: Poll failed']);
});

test('recovery is told at info, and the failure after it at warn again', () => {
  const { changes, news } = start();
  changes.succeeded(good(), [], 1);
  changes.failed(failure(), 1);
  changes.succeeded(good(), [], 1);
  changes.failed(failure(), 1);
  assert.deepEqual(news(), [
    'info: Poll succeeded',
    'warn: Poll failed',
    'info: Poll succeeded',
    'warn: Poll failed',
  ]);
});

test('invalid records are told once at warn by kind and reason, and again after there were none', () => {
  const { changes, lines, news } = start();
  const line = 'Left out entries that break the interface';
  changes.succeeded(good(), INVALID, 1);
  assert.deepEqual(lines[1], {
    level: 'warn',
    msg: line,
    records: { 'user wrong_type': 2, 'task missing_field': 1 },
  });
  news();
  changes.succeeded(good(), INVALID, 1);
  changes.failed(failure(), 1);
  changes.succeeded(good(), INVALID, 1);
  changes.succeeded(good(), [], 1);
  changes.succeeded(good(), INVALID, 1);
  assert.deepEqual(
    news().filter((text) => text.endsWith(line)),
    [`debug: ${line}`, `debug: ${line}`, `warn: ${line}`],
  );
});

test('folding is told once at warn with its families, and again after there was none', () => {
  const { changes, lines, news } = start();
  const line = 'Folded label sets beyond metrics.max_label_sets';
  changes.succeeded(good(3), [], 1);
  assert.deepEqual(lines[1], {
    level: 'warn',
    msg: line,
    families: ['xvs_server_online_users', 'xvs_server_last_seen_timestamp_seconds'],
  });
  news();
  changes.succeeded(good(3), [], 1);
  changes.succeeded(good(1), [], 1);
  changes.succeeded(good(3), [], 1);
  assert.deepEqual(
    news().filter((text) => text.endsWith(line)),
    [`debug: ${line}`, `warn: ${line}`],
  );
});

test('a family that folded once and folds no more is not told of', () => {
  const { changes, news } = start();
  const run = new TallyRun({ maxLabelSets: 2 });
  const users = ['server-1', 'server-2', 'server-3'].map((vsId) => userRecord({ vsId }));
  run.list({ users });
  // After the hour for which the other servers are remembered.
  changes.succeeded(run.list({ users: [userRecord()] }, 3_600_001), [], 1);
  changes.succeeded(run.list({ users: [userRecord()] }), [], 1);
  assert.deepEqual(news(), ['info: Poll succeeded', 'debug: Poll succeeded']);
});

test('what caused a failure is not told: it may quote the request', () => {
  const { changes, lines } = start();
  changes.failed(failure({ cause: new Error('GET http://h/?service_code=A xvs-signature c0ffee') }), 1);
  assert.doesNotMatch(JSON.stringify(lines), /http:\/\/|c0ffee/);
});
