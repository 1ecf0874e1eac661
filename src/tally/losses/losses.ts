import { isNamed } from '../../listing/label-values.ts';
import { sumByServer, TextRows, type RowsOf } from '../../listing/rows.ts';
import type { Instant } from '../../runtime/instant.ts';
import { followDeliveries, NO_DELIVERIES_MEMORY } from './delivery-stops.ts';
import { advance, LONGEST_LOSS_MS, MINUTE_MS } from './fall.ts';
import { followIngest, NO_INGEST_MEMORY, type IngestCounts } from './ingest-stop.ts';
import { followLevel, NO_LEVEL_MEMORY, type Loss } from './level-loss.ts';
import { packMemory, unpackMemory, type LossMemory, type PersistedLosses } from './loss-memory.ts';
import { followServers, NO_SERVERS_MEMORY } from './server-losses.ts';

const TASKS = { leastOfHalf: 10, leastOfAll: 1, endsOneByOne: true };
const USERS = { leastOfHalf: 20, leastOfAll: Infinity, endsOneByOne: false };

/** Between rarer polls, the outputs of viewers may have come and gone: bytes that no listing shows. */
const LONGEST_DELIVERY_INTERVAL_MS = 2 * MINUTE_MS;

interface ServerLoss extends Loss {
  readonly vsId: string;
}

export interface DeliveryStop extends ServerLoss {
  readonly format: string;
}

/** The losses of a service code that go on after a listing. */
export interface CodeLosses {
  readonly tasks: Loss | undefined;
  readonly users: Loss | undefined;
  readonly ingest: Loss | undefined;
  readonly servers: readonly ServerLoss[];
  readonly deliveries: readonly DeliveryStop[];
}

export const NO_LOSSES: CodeLosses = {
  tasks: undefined,
  users: undefined,
  ingest: undefined,
  servers: [],
  deliveries: [],
};

/** As in `XvsTasksDropped`: the end of one or two tasks alone is none. */
const NOTABLE_TASKS = 3;

export function isNotable(loss: Loss | undefined): loss is Loss {
  return loss !== undefined && loss.before >= NOTABLE_TASKS;
}

interface LossListing {
  readonly users: number;
  readonly tasks: number;
  /** Counters are what was gained since the listing before. */
  readonly rows: RowsOf<'taskServers' | 'accounts' | 'outputs' | 'waiting'>;
  readonly ingest: IngestCounts;
}

interface LossOptions {
  readonly pollIntervalMs: number;
  readonly stallAfterMs: number;
}

/** Finds what a service code has lost, from listing to listing. */
export class Losses {
  #memory: LossMemory | undefined;

  commit(listing: LossListing, at: Instant, options: LossOptions): CodeLosses {
    this.#memory =
      this.#memory === undefined ? begin(listing, at) : follow(this.#memory, listing, at, options);
    return listLosses(this.#memory);
  }

  /** The families of losses. Those with labels are present while something is lost. */
  collect(): RowsOf<'losses' | 'serverLosses' | 'deliveryStops'> {
    const losses = new TextRows('losses');
    const serverLosses = new TextRows('serverLosses');
    const deliveryStops = new TextRows('deliveryStops');
    if (this.#memory !== undefined) {
      const { knownFromMs, time } = this.#memory;
      const { tasks, users, ingest, servers, deliveries } = listLosses(this.#memory);
      const none = time.at.monotonicMs >= knownFromMs ? 0 : Number.NaN;
      losses.count('tasksBeforeLoss', tasks?.before ?? none);
      losses.count('usersBeforeLoss', users?.before ?? none);
      losses.count('tasksBeforeIngestStop', ingest?.before ?? none);
      for (const { vsId, before } of servers) serverLosses.count('serverTasksBeforeLoss', before, vsId);
      for (const { vsId, format, before } of deliveries)
        deliveryStops.count('connectionsBeforeStop', before, vsId, format);
    }
    return { losses, serverLosses, deliveryStops };
  }

  /** `undefined` before the first listing. */
  exportMemory(): PersistedLosses | undefined {
    return this.#memory && packMemory(this.#memory);
  }

  restore(persisted: PersistedLosses, last: Instant): void {
    this.#memory = unpackMemory(persisted, last);
  }
}

function begin({ users, tasks, rows }: LossListing, at: Instant): LossMemory {
  const time = advance(undefined, at, 0);
  return {
    knownFromMs: at.monotonicMs + LONGEST_LOSS_MS,
    time,
    tasks: followLevel(NO_LEVEL_MEMORY, tasks, time, TASKS),
    users: followLevel(NO_LEVEL_MEMORY, users, time, USERS),
    // No task has been seen to receive data yet.
    ingest: NO_INGEST_MEMORY,
    servers: followServers(NO_SERVERS_MEMORY, countByServer(rows), tasks, time),
    deliveries: followDeliveries(NO_DELIVERIES_MEMORY, rows, time, Infinity),
  };
}

function follow(
  { knownFromMs, ...before }: LossMemory,
  { users, tasks, rows, ingest }: LossListing,
  at: Instant,
  { pollIntervalMs, stallAfterMs }: LossOptions,
): LossMemory {
  const time = advance(before.time, at, pollIntervalMs);
  const memory = {
    time,
    tasks: followLevel(before.tasks, tasks, time, TASKS),
    users: followLevel(before.users, users, time, USERS),
    ingest: followIngest(before.ingest, ingest, time, stallAfterMs),
    servers: followServers(before.servers, countByServer(rows), tasks, time),
    deliveries:
      pollIntervalMs > LONGEST_DELIVERY_INTERVAL_MS
        ? NO_DELIVERIES_MEMORY
        : followDeliveries(before.deliveries, rows, time, stallAfterMs),
  };
  // The end of a loss is known at once.
  const hasEnded =
    isOver(before.tasks.loss, memory.tasks.loss) ||
    isOver(before.users.loss, memory.users.loss) ||
    isOver(before.ingest.stop, memory.ingest.stop);
  return { ...memory, knownFromMs: hasEnded ? Math.min(knownFromMs, at.monotonicMs) : knownFromMs };
}

const isOver = (before: Loss | undefined, now: Loss | undefined): boolean =>
  before !== undefined && now === undefined;

function countByServer({ taskServers }: LossListing['rows']): ReadonlyMap<string, number> {
  const counts = sumByServer(taskServers, 'tasks');
  return new Map([...counts].filter(([vsId]) => isNamed([vsId])));
}

function listLosses({ tasks, users, ingest, servers, deliveries }: LossMemory): CodeLosses {
  return {
    tasks: tasks.loss,
    users: users.loss,
    ingest: ingest.stop,
    servers: [...servers.servers].flatMap(([vsId, { loss }]) => (loss ? [{ ...loss, vsId }] : [])),
    deliveries: [...deliveries.deliveries].flatMap(([[vsId = '', format = ''], { stop }]) =>
      stop ? [{ ...stop, vsId, format }] : [],
    ),
  };
}
