import assert from 'node:assert/strict';
import { test } from 'node:test';
import { recordOf } from '../../../src/families/record-of.ts';
import { familiesOf } from '../../../src/listing/label-groups.ts';
import { CATALOGUE } from '../../../src/metrics/catalogue.ts';
import { PollLogger } from '../../../src/poller/poll-logger.ts';
import type { FailedListing } from '../../../src/poller/fetch-listing.ts';
import type { ListingProblems, Snapshot } from '../../../src/tally/snapshot.ts';
import {
  UpstreamError,
  type PollErrorReason,
  type UpstreamErrorDetails,
} from '../../../src/upstream/errors.ts';
import { buildTaskRecord, buildUserRecord } from '../../support/record-builders.ts';
import { TallyRun } from '../../support/tally-run.ts';
import { createRecordingLogger } from '../../support/recording-logger.ts';

function start() {
  const { logger, lines } = createRecordingLogger();
  const pollLogger = new PollLogger(logger);
  let readCount = 0;
  /** Returns level and message of the lines written since the last call. */
  const readNewLines = (): string[] => {
    const newLines = lines.slice(readCount).map(({ level, msg }) => `${level}: ${msg}`);
    readCount = lines.length;
    return newLines;
  };
  return { pollLogger, lines, readNewLines };
}

/** Creates the snapshot of a good listing, with label sets for two servers. */
function createSnapshot(serverCount = 1): Snapshot {
  const users = Array.from({ length: serverCount }, (_, index) =>
    buildUserRecord({ vsId: `server-${index}` }),
  );
  return new TallyRun({ maxLabelSets: 2 }).commitListing({
    users,
    tasks: [buildTaskRecord({ vsId: 'server-0' })],
  });
}

const GROUPS = ['invalidRecords', 'invalidFields', 'foreignRecords', 'listingSurplus', 'directions'] as const;
type Counts = Partial<Record<(typeof GROUPS)[number], Readonly<Record<string, number>>>>;

/** Creates the rows of counts by labels, joined by a space. */
function createProblems(counts: Counts = {}): ListingProblems {
  return recordOf(GROUPS, (group) => ({
    labelSets: Object.keys(counts[group] ?? {}).map((labels) => labels.split(' ')),
    columns: recordOf(familiesOf(group), () => Object.values(counts[group] ?? {})),
  }));
}

const NOTHING_READ = { users: 0, tasks: 0, bytes: 0, response: undefined };

function createFailure({ ret, ...details }: UpstreamErrorDetails & { ret?: number } = {}): FailedListing {
  const error = new UpstreamError('http_status', 'Expected HTTP status 2xx, found another', details);
  return { ...NOTHING_READ, error, ret };
}

const createFailureWithReason = (reason: PollErrorReason, message: string, code?: string): FailedListing => ({
  ...NOTHING_READ,
  error: new UpstreamError(reason, message, { code }),
  ret: undefined,
});

/** Logs a success, which is `undefined`, or a failure. */
function logOutcome(pollLogger: PollLogger, failure: FailedListing | undefined): void {
  if (failure === undefined) pollLogger.logSuccess(createSnapshot(), createProblems(), 123.4);
  else pollLogger.logFailure(failure, 7.6, 'Check it.');
}

test('a success has its numbers, and a failure its details', () => {
  const { pollLogger, lines } = start();
  logOutcome(pollLogger, undefined);
  logOutcome(pollLogger, createFailure({ status: 503, ret: 12, retryAfterMs: 5000 }));
  assert.deepEqual(lines, [
    { level: 'info', msg: 'Poll succeeded', users: 1, tasks: 1, duration_ms: 123 },
    {
      level: 'warn',
      msg: 'Poll failed',
      reason: 'http_status',
      err: { message: 'Expected HTTP status 2xx, found another' },
      status: 503,
      ret: 12,
      retry_after_ms: 5000,
      duration_ms: 8,
      remedy: 'Check it.',
    },
  ]);
});

const FAILURE = createFailure({ status: 500, ret: 1 });
const AT_BYTE_5 = createFailureWithReason('not_json', 'Expected a value at byte 5');
const AT_BYTE_7 = createFailureWithReason('not_json', 'Expected a value at byte 7');

const [UNTRUSTED, EXPIRED] = ['DEPTH_ZERO_SELF_SIGNED_CERT', 'CERT_HAS_EXPIRED'].map((code) =>
  createFailureWithReason('tls', 'No trusted connection', code),
);
const [REFUSED, UNREACHABLE] = ['ECONNREFUSED', 'EHOSTUNREACH'].map((code) =>
  createFailureWithReason('connect', 'No connection', code),
);

/** Outcomes of polls, and the levels at which they are logged. */
const SEQUENCES: readonly (readonly [string, readonly (FailedListing | undefined)[], string])[] = [
  ['a success that repeats', [undefined, undefined, undefined], 'info debug debug'],
  ['a failure that repeats', [FAILURE, FAILURE], 'warn debug'],
  ['another reason', [FAILURE, AT_BYTE_5, AT_BYTE_5], 'warn warn debug'],
  ['another status', [FAILURE, createFailure({ status: 503, ret: 1 })], 'warn warn'],
  ['another ret', [FAILURE, createFailure({ status: 500, ret: 2 })], 'warn warn'],
  ['only another message, as offsets vary', [AT_BYTE_5, AT_BYTE_7], 'warn debug'],
  ['another mistake of a certificate', [UNTRUSTED, EXPIRED, EXPIRED], 'warn warn debug'],
  ['addresses that fail in turn', [REFUSED, UNREACHABLE, REFUSED], 'warn debug debug'],
  ['a recovery and the next failure', [undefined, FAILURE, undefined, FAILURE], 'info warn info warn'],
];

for (const [name, outcomes, levels] of SEQUENCES) {
  test(`${name}: logged at ${levels}`, () => {
    const { pollLogger, lines } = start();
    for (const outcome of outcomes) logOutcome(pollLogger, outcome);
    assert.equal(lines.map(({ level }) => level).join(' '), levels);
  });
}

/**
 * What a listing with a problem logs, beside the message, and how the snapshot and the invalid records show
 * it.
 */
const PROBLEMS: readonly (readonly [string, object, Counts, Snapshot?])[] = [
  [
    'Skipped invalid records',
    { records: { 'user wrong_type': 2, 'task missing_field': 1 } },
    { invalidRecords: { 'user wrong_type': 2, 'task missing_field': 1 } },
  ],
  [
    'Treated invalid fields as missing',
    { fields: { 'task progress': 3 } },
    { invalidFields: { 'task progress': 3 } },
  ],
  ['Listing has records of other service codes', { records: { user: 2 } }, { foreignRecords: { user: 2 } }],
  [
    'Folded label sets over metrics.max_label_sets',
    {
      families: (['userServers', 'taskServers'] as const)
        .flatMap((group) => familiesOf(group))
        .map((family) => CATALOGUE[family].name),
    },
    {},
    createSnapshot(3),
  ],
  [
    'Listing exceeded limits; the surplus is counted',
    { items: { task: 5 } },
    { listingSurplus: { task: 5 } },
  ],
  ...(['input', 'http_output'] as const).map(
    (direction) =>
      [
        'Byte counts fell or leapt; they wait for three listings to confirm them',
        { direction, byte_counts: 2 },
        { directions: { [direction]: 2 } },
      ] as const,
  ),
];

for (const [message, fields, counts, bad = createSnapshot()] of PROBLEMS) {
  test(`${message}: logged once at warn, and again after a listing without it (${Object.keys(fields).join()})`, () => {
    const { pollLogger, lines, readNewLines } = start();
    const problems = createProblems(counts);
    pollLogger.logSuccess(bad, problems, 1);
    assert.deepEqual(lines.slice(1), [{ level: 'warn', msg: message, ...fields }]);
    readNewLines();
    pollLogger.logSuccess(bad, problems, 1);
    pollLogger.logFailure(createFailure(), 1, undefined);
    pollLogger.logSuccess(bad, problems, 1);
    pollLogger.logSuccess(createSnapshot(), createProblems(), 1);
    pollLogger.logSuccess(bad, problems, 1);
    assert.deepEqual(
      readNewLines().filter((text) => text.endsWith(message)),
      [`debug: ${message}`, `debug: ${message}`, `warn: ${message}`],
    );
  });
}

test('a family that no longer folds is not logged', () => {
  const { pollLogger, readNewLines } = start();
  const run = new TallyRun({ maxLabelSets: 2 });
  const users = ['server-1', 'server-2', 'server-3'].map((vsId) => buildUserRecord({ vsId }));
  run.commitListing({ users });
  // The other servers are kept for one hour.
  pollLogger.logSuccess(run.commitListing({ users: [buildUserRecord()] }, 3_600_001), createProblems(), 1);
  pollLogger.logSuccess(run.commitListing({ users: [buildUserRecord()] }), createProblems(), 1);
  assert.deepEqual(readNewLines(), ['info: Poll succeeded', 'debug: Poll succeeded']);
});

test('a loss is logged once, with the second listing that has it', () => {
  const { pollLogger, lines, readNewLines } = start();
  const snapshot = createSnapshot();
  const since = { wallMs: snapshot.at.wallMs, monotonicMs: 0 };
  const servers = Array.from({ length: 12 }, (_, index) => ({ vsId: `edge-${index}`, before: 2, since }));
  const losses = {
    tasks: { before: 30, since },
    users: { before: 100, since },
    ingest: { before: 8, since },
    servers,
    deliveries: [{ vsId: 'edge-0', format: 'flv', before: 5, since }],
  };
  const log = (listing: Partial<Snapshot>, secondsLater: number) => {
    const at = { ...snapshot.at, wallMs: snapshot.at.wallMs + 1000 * secondsLater };
    pollLogger.logSuccess({ ...snapshot, ...listing, at }, createProblems(), 5);
    return readNewLines().filter((line) => line.startsWith('warn'));
  };
  assert.deepEqual(log({ losses: { ...losses, servers: [], deliveries: [] } }, 0), []);
  assert.deepEqual(log({ losses }, 15), [
    'warn: Most tasks are gone',
    'warn: Most users are gone',
    'warn: Most live tasks receive nothing',
    'warn: Servers have left with their tasks',
    'warn: Viewers receive nothing',
  ]);
  const gone = lines.find(({ msg }) => msg === 'Servers have left with their tasks');
  assert.deepEqual([gone?.['count'], gone?.['servers']], [12, servers.slice(0, 10).map(({ vsId }) => vsId)]);
  assert.deepEqual(log({ losses }, 30), []);
  // The end of a single task is none, unless users stay.
  const last = { ...losses, tasks: { before: 1, since } };
  assert.deepEqual(log({ losses: last }, 45), []);
  assert.deepEqual(log({ losses: last, users: 20 }, 60), ['warn: Most tasks are gone']);
});
