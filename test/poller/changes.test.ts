import assert from 'node:assert/strict';
import { test } from 'node:test';
import { PollChanges } from '../../src/poller/changes.ts';
import { UpstreamError } from '../../src/upstream/errors.ts';
import { recordingLogger } from '../support/recording-logger.ts';
import { taskRecord } from '../support/task-record.ts';
import { TallyRun } from '../support/tally-run.ts';

const failure = (reason: 'timeout' | 'api_error', ret?: number) => ({
  error: new UpstreamError(reason, 'A sentence'),
  ret,
  bytes: 0,
});

/** A log, and what it says of each step as `level message`. */
function log() {
  const { logger, lines } = recordingLogger();
  return {
    changes: new PollChanges(logger),
    said: () => lines.splice(0).map(({ level, msg }) => `${level} ${msg}`),
  };
}

test('a change of state is told once, its repetition at debug', () => {
  const { changes, said } = log();
  const snapshot = new TallyRun().list({});
  const steps: [() => void, string][] = [
    [() => changes.succeeded(snapshot, [], 1), 'info Poll succeeded'],
    [() => changes.succeeded(snapshot, [], 1), 'debug Poll succeeded'],
    [() => changes.failed(failure('timeout'), 1), 'warn Poll failed'],
    [() => changes.failed(failure('timeout'), 1), 'debug Poll failed'],
    [() => changes.failed(failure('api_error', 5), 1), 'warn Poll failed'],
    [() => changes.failed(failure('api_error', 6), 1), 'warn Poll failed'],
    [() => changes.failed(failure('api_error', 6), 1), 'debug Poll failed'],
    [() => changes.succeeded(snapshot, [], 1), 'info Poll succeeded'],
  ];
  for (const [step, line] of steps) {
    step();
    assert.deepEqual(said(), [line]);
  }
});

test('entries left out are told when they begin, and again only after they had ended', () => {
  const { changes, said } = log();
  const snapshot = new TallyRun().list({});
  const invalid = [{ record: 'task', reason: 'wrong_type', count: 3 } as const];
  const line = (level: string) => `${level} Left out entries that break the interface`;
  changes.succeeded(snapshot, invalid, 1);
  assert.ok(said().includes(line('warn')));
  changes.succeeded(snapshot, invalid, 1);
  assert.ok(said().includes(line('debug')));
  changes.succeeded(snapshot, [], 1);
  said();
  changes.succeeded(snapshot, invalid, 1);
  assert.ok(said().includes(line('warn')));
});

test('folding is told when it begins', () => {
  const { changes, said } = log();
  const run = new TallyRun({ maxLabelSets: 1 });
  const snapshot = run.list({ tasks: [taskRecord(), taskRecord({ id: 'b', vsId: 'c' })] });
  const line = (level: string) => `${level} Folded label sets beyond metrics.max_label_sets`;
  changes.succeeded(snapshot, [], 1);
  assert.ok(said().includes(line('warn')));
  changes.succeeded(snapshot, [], 1);
  assert.ok(said().includes(line('debug')));
});
