import type { CountedGroupName, FamilyOf } from '../../listing/label-groups.ts';
import type { TextRows } from '../../listing/rows.ts';
import type { Instant } from '../../runtime/instant.ts';
import { LargestTasks } from '../top-tasks.ts';
import { hasFlag, setFlag, TaskFlag, type TaskAccount } from './task-account.ts';
import type { InputUpdate } from './task-input.ts';

/** Operators know by now of a task that has stalled for longer. */
const LONG_STALL_MS = 60 * 60 * 1000;

export type LedgerRows = { readonly [G in CountedGroupName]: TextRows<G> };

const TASK_GAUGES = ['tasksStalled', 'tasksLongStalled', 'tasksWithoutInput', 'fileTasksStalled'] as const;

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

  /** A server with a task has all gauges, most of them 0. */
  noteFirstSeen(firstSeen: Instant): void {
    if (this.oldest === undefined) for (const family of TASK_GAUGES) this.add(family, 0);
    if (this.oldest === undefined || firstSeen.monotonicMs < this.oldest.monotonicMs) this.oldest = firstSeen;
  }
}

export class ServerSums {
  /** The stalled tasks of all servers, by how long they have stalled. */
  readonly longestStalled = new LargestTasks<TaskAccount>();
  /** The tasks without input of all servers, by their age. */
  readonly longestWithoutInput = new LargestTasks<TaskAccount>();
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

  /** The rows of servers that have no task in this listing: an end alone does not make a server present. */
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
  readonly commit: { readonly at: Instant; readonly servers: ServerSums; readonly isAfterGap: boolean };
  readonly server: ServerSum;
}

/** What the byte counts of a listing tell of the input of a task. */
export type InputEvidence = 'flowing' | 'undecided' | 'idle';

/**
 * What a task does, `poll.stall_after` considered. `receiving`: a live task whose input has been seen to flow
 * still does; `silent`: it does not; `starting`: a live task that has just started has received nothing yet;
 * `reading`: a file task progresses.
 */
export type TaskFlow = 'receiving' | 'silent' | 'starting' | 'reading' | 'other';

/**
 * Updates whether a task is stalled, and the sums of its server. A live task is stalled if its input flowed
 * once and has not flowed for long; a file task if its progress is unchanged for long, whatever flows.
 */
export function updateStalls(
  { commit: { at, servers, isAfterGap }, account, reading: { progress = 0 }, server }: StallUpdate,
  evidence: InputEvidence,
  stallAfterMs: number,
): TaskFlow {
  const isLive = progress === 0;
  const wasStalled = hasFlag(account, TaskFlag.isStalled);
  // Values that wait do not end a stall: those of a dead stream wait too after the service has restarted.
  const isActive = evidence === 'flowing' || (evidence === 'undecided' && !wasStalled);
  if (progress !== account.progress || (isLive && isActive)) account.lastActivity = at;
  if (isLive && evidence === 'flowing') setFlag(account, TaskFlag.hasFlowedInSight, true);
  account.progress = progress;
  if (!isLive) setFlag(account, TaskFlag.hasNoLifetime, true);
  const hasFlowed = hasFlag(account, TaskFlag.hasFlowed);
  const idleMs = at.monotonicMs - account.lastActivity.monotonicMs;
  const isIdle = idleMs >= stallAfterMs;
  // The first listing after a gap without growth does not tell when the input ended: the task is as before.
  const isStalled = isLive && hasFlowed && isIdle && (wasStalled || !isAfterGap);
  const isOld = at.monotonicMs - account.firstSeen.monotonicMs >= stallAfterMs;
  const isWithoutInput = isLive && !hasFlowed && hasFlag(account, TaskFlag.reportsInput) && isOld;
  setFlag(account, TaskFlag.isStalled, isStalled);
  const hasFlowedInSight = hasFlag(account, TaskFlag.hasFlowedInSight);
  server.noteFirstSeen(account.firstSeen);
  if (isStalled) {
    servers.longestStalled.offer(account, -account.lastActivity.monotonicMs);
    server.add('tasksStalled', 1);
    if (idleMs >= LONG_STALL_MS || !hasFlowedInSight) server.add('tasksLongStalled', 1);
  }
  if (isWithoutInput) {
    servers.longestWithoutInput.offer(account, -account.firstSeen.monotonicMs);
    server.add('tasksWithoutInput', 1);
  }
  if (!isLive && isIdle) server.add('fileTasksStalled', 1);
  if (!isLive) return isIdle ? 'other' : 'reading';
  if (hasFlowedInSight) return isStalled ? 'silent' : 'receiving';
  // What was listed before its start could be seen may have waited for long.
  const isStarting = !hasFlowed && !isOld && !hasFlag(account, TaskFlag.hasNoLifetime);
  return isStarting ? 'starting' : 'other';
}
