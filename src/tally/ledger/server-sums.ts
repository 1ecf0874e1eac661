import type { CountedGroupName, FamilyOf } from '../../listing/label-groups.ts';
import type { TextRows } from '../../listing/rows.ts';
import type { Instant } from '../../runtime/instant.ts';
import { LargestTasks } from '../notable-tasks.ts';
import { hasFlag, setFlag, TaskFlag, type TaskAccount } from './task-account.ts';
import type { InputUpdate } from './task-input.ts';

/** A task that has stalled for longer is known by now. */
const LONG_STALL_MS = 60 * 60 * 1000;

export type LedgerRows = { readonly [G in CountedGroupName]: TextRows<G> };

/** The row of one server in one commit, found once instead of once per task. */
export class ServerSum {
  oldest: Instant | undefined;
  readonly row: number;
  readonly #rows: LedgerRows['accounts'];

  constructor({ accounts }: LedgerRows, vsId: string) {
    this.#rows = accounts;
    this.row = accounts.find(vsId);
  }

  add(family: FamilyOf<'accounts'>, amount: number): void {
    this.#rows.add(this.row, family, amount);
  }

  noteFirstSeen(firstSeen: Instant): void {
    if (this.oldest === undefined || firstSeen.monotonicMs < this.oldest.monotonicMs) this.oldest = firstSeen;
  }
}

export class ServerSums {
  /** The stalled tasks of all servers, by how long they have stalled. */
  readonly longestStalled = new LargestTasks<TaskAccount>();
  /** The tasks without input of all servers, by their age. */
  readonly longestWithoutInput = new LargestTasks<TaskAccount>();
  /** What the live tasks of all servers receive. */
  readonly ingest = { fed: 0, undecided: 0, unfedSinceMs: new Array<number>() };
  readonly #rows: LedgerRows;
  readonly #servers = new Map<string, ServerSum>();

  constructor(rows: LedgerRows) {
    this.#rows = rows;
  }

  get(vsId: string): ServerSum {
    const found = this.#servers.get(vsId);
    if (found !== undefined) return found;
    const created = new ServerSum(this.#rows, vsId);
    this.#servers.set(vsId, created);
    return created;
  }

  /** Rows of servers without a task in this listing: an end alone does not make them present. */
  get absentRows(): ReadonlySet<number> {
    return new Set(
      [...this.#servers.values()].filter(({ oldest }) => oldest === undefined).map(({ row }) => row),
    );
  }

  *listOldest(): Generator<readonly [vsId: string, firstSeen: Instant], void> {
    for (const [vsId, { oldest }] of this.#servers) if (oldest !== undefined) yield [vsId, oldest];
  }
}

/** A task of the listing under way whose bytes are accounted for. */
interface StallUpdate extends Pick<InputUpdate, 'account' | 'reading'> {
  readonly commit: {
    readonly at: Instant;
    readonly servers: ServerSums;
    /** What the first listing had may have been so for long. */
    readonly baseline: Instant | undefined;
  };
  readonly server: ServerSum;
}

/**
 * Updates whether a task is stalled, and the sums of its server. A live task is stalled if its input flowed
 * once and has not flowed for long; a file task if its progress is unchanged for long, whatever flows.
 */
export function updateStalls(
  { commit: { at, servers, baseline }, account, reading: { progress = 0 }, server }: StallUpdate,
  isFlowing: boolean,
  stallAfterMs: number,
): void {
  const isLive = progress === 0;
  if (progress !== account.progress || (isLive && isFlowing)) account.lastActivity = at;
  if (isLive && isFlowing) setFlag(account, TaskFlag.hasGrown, true);
  account.progress = progress;
  if (!isLive) setFlag(account, TaskFlag.hasNoLifetime, true);
  const hasFlowed = hasFlag(account, TaskFlag.hasFlowed);
  const idleMs = at.monotonicMs - account.lastActivity.monotonicMs;
  const isIdle = idleMs >= stallAfterMs;
  const isStalled = isLive && hasFlowed && isIdle;
  const isOld = at.monotonicMs - account.firstSeen.monotonicMs >= stallAfterMs;
  const isWithoutInput = isLive && !hasFlowed && hasFlag(account, TaskFlag.reportsInput) && isOld;
  setFlag(account, TaskFlag.isStalled, isStalled);
  if (isLive) countIngest(servers.ingest, account, isIdle, account.firstSeen === baseline);
  if (isStalled) servers.longestStalled.offer(account, -account.lastActivity.monotonicMs);
  if (isWithoutInput) servers.longestWithoutInput.offer(account, -account.firstSeen.monotonicMs);
  server.add('tasksStalled', isStalled ? 1 : 0);
  // One that has never flowed in sight has stalled before the exporter knew it, however long ago.
  const isLongStalled = isStalled && (idleMs >= LONG_STALL_MS || !hasFlag(account, TaskFlag.hasGrown));
  server.add('tasksLongStalled', isLongStalled ? 1 : 0);
  server.add('fileTasksStalled', !isLive && isIdle ? 1 : 0);
  server.add('tasksWithoutInput', isWithoutInput ? 1 : 0);
  server.noteFirstSeen(account.firstSeen);
}

function countIngest(
  ingest: ServerSums['ingest'],
  account: TaskAccount,
  isIdle: boolean,
  isOfBaseline: boolean,
): void {
  const hasGrown = hasFlag(account, TaskFlag.hasGrown);
  // New, and without a byte so far.
  const isBlank = !hasFlag(account, TaskFlag.hasFlowed) && !isOfBaseline;
  if (hasGrown && !isIdle) ingest.fed += 1;
  else if (hasGrown || isBlank) ingest.unfedSinceMs.push(account.lastActivity.monotonicMs);
  if (!hasGrown && isBlank && !isIdle) ingest.undecided += 1;
}
