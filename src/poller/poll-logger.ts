import type { Logger } from '../runtime/logger.ts';
import { readCounts } from '../listing/rows.ts';
import { findReportedTasks } from '../tally/losses/losses.ts';
import type { Loss } from '../tally/losses/fall.ts';
import type { ListingProblems, Snapshot } from '../tally/snapshot.ts';
import { ExpectedTaskLogger } from './expected-task-logger.ts';
import type { FailedListing } from './fetch-listing.ts';

/** A line names at most so many servers. */
const MAX_LOGGED = 10;

/** Logs the outcome of polls: a change of state once at `info` or `warn`, its repetition at `debug`. */
export class PollLogger {
  readonly #logger: Logger;
  readonly #expectedTaskLogger: ExpectedTaskLogger;
  #hasLoggedPoll = false;
  #lastFailure: string | undefined;
  readonly #problems = new Set<string>();

  constructor(logger: Logger) {
    this.#logger = logger;
    this.#expectedTaskLogger = new ExpectedTaskLogger(logger);
  }

  logSuccess(snapshot: Snapshot, problems: ListingProblems, durationMs: number): void {
    const { users, tasks } = snapshot;
    const hasChanged = !this.#hasLoggedPoll || this.#lastFailure !== undefined;
    this.#log(hasChanged, 'info', { users, tasks, duration_ms: Math.round(durationMs) }, 'Poll succeeded');
    this.#hasLoggedPoll = true;
    this.#lastFailure = undefined;
    this.#expectedTaskLogger.log(snapshot);
    this.#logLosses(snapshot);

    const folded = readCounts(snapshot.rows.foldedLabelSets);
    const { account = 0, ...surplus } = readCounts(problems.listingSurplus);
    this.#logCounts('Skipped invalid records', 'records', readCounts(problems.invalidRecords));
    this.#logCounts('Treated invalid fields as missing', 'fields', readCounts(problems.invalidFields));
    this.#logCounts(
      'Listing has records of other service codes',
      'records',
      readCounts(problems.foreignRecords),
    );
    this.#logProblem('Folded label sets over metrics.max_label_sets', Object.keys(folded).length, {
      families: Object.keys(folded),
    });
    this.#logCounts('Listing exceeded limits; the surplus is counted', 'items', surplus);
    const spent = 'The accounts of the process are used up; bytes of some tasks are not counted';
    this.#logProblem(spent, account, { tasks: account });
    const { input = 0, http_output = 0 } = readCounts(problems.directions, 'byteCountImplausible');
    for (const [direction, count] of Object.entries({ input, http_output })) {
      const message = 'Byte counts fell or leapt; they wait for three listings to confirm them';
      this.#logProblem(message, count, { direction, byte_counts: count }, direction);
    }
  }

  logFailure({ error, ret }: FailedListing, durationMs: number, remedy: string | undefined): void {
    const { reason, status, retryAfterMs } = error;
    // Not the message: it may contain the offset of an invalid byte, which differs from poll to poll. Other
    // codes than those of TLS may take turns, with the addresses of the service.
    const code = reason === 'tls' ? error.code : undefined;
    const failure = [reason, status, ret, code].join(' ');
    const fields = {
      reason,
      // Only the message: the error's cause may quote a signed URL.
      err: error.message,
      status,
      ret,
      retry_after_ms: retryAfterMs,
      duration_ms: Math.round(durationMs),
      remedy,
    };
    this.#log(failure !== this.#lastFailure, 'warn', fields, 'Poll failed');
    this.#hasLoggedPoll = true;
    this.#lastFailure = failure;
  }

  /** A number that only one listing lacks is none that is worth a line. */
  #logLosses({ at, tasks, users, losses }: Snapshot): void {
    const countBefore = (loss: Loss | undefined): number =>
      loss === undefined || loss.since.wallMs === at.wallMs ? 0 : loss.before;
    const lostTasks = countBefore(findReportedTasks({ losses, users }));
    const lostUsers = countBefore(losses.users);
    const stopped = countBefore(losses.ingest);
    const servers = losses.servers.slice(0, MAX_LOGGED).map(({ vsId }) => vsId);
    const deliveries = losses.deliveries.slice(0, MAX_LOGGED).map(({ vsId, format }) => `${vsId} ${format}`);
    this.#logProblem('Most tasks are gone', lostTasks, { tasks, tasks_before: lostTasks });
    this.#logProblem('Most users are gone', lostUsers, { users, users_before: lostUsers });
    this.#logProblem('Most live tasks receive nothing', stopped, { tasks_before: stopped });
    this.#logProblem('Servers have left with their tasks', losses.servers.length, {
      count: losses.servers.length,
      servers,
    });
    this.#logProblem('Viewers receive nothing', losses.deliveries.length, {
      count: losses.deliveries.length,
      deliveries,
    });
  }

  #logCounts(message: string, field: string, counts: Readonly<Record<string, number>>): void {
    this.#logProblem(message, Object.keys(counts).length, { [field]: counts });
  }

  /** Logs a problem unless its count is 0. Problems with one message are told apart by `key`. */
  #logProblem(message: string, count: number, fields: object, key = message): void {
    if (count > 0) {
      this.#log(!this.#problems.has(key), 'warn', fields, message);
      this.#problems.add(key);
    } else this.#problems.delete(key);
  }

  #log(hasChanged: boolean, level: 'info' | 'warn', fields: object, message: string): void {
    this.#logger[hasChanged ? level : 'debug'](fields, message);
  }
}
