import { z } from 'zod';
import { isNamed } from '../../listing/label-values.ts';
import { TextRows, type RowsOf } from '../../listing/rows.ts';
import type { Instant } from '../../runtime/instant.ts';
import { ALERT_BOUNDS } from '../alert-bounds.ts';
import { deliverySchema, followDeliveries } from './delivery-stops.ts';
import {
  advance,
  FALLS,
  isOneHourOld,
  listingTimeSchema,
  LONGEST_LOSS_MS,
  MINUTE_MS,
  NO_LEVELS,
  type Loss,
} from './fall.ts';
import { followIngest, ingestSchema } from './ingest-stop.ts';
import { followLevel, levelLossSchema } from './level-loss.ts';
import type { ListingFlows } from '../listing-flows.ts';
import { followServers, serverSchema } from './server-losses.ts';

/** Between rarer polls, the outputs of viewers may have come and gone: bytes that no listing shows. */
const LONGEST_DELIVERY_INTERVAL_MS = 2 * MINUTE_MS;

/** What is remembered of a service code, as it is in memory and in its record. */
export const lossMemorySchema = z
  .object({
    time: listingTimeSchema,
    tasks: levelLossSchema,
    users: levelLossSchema,
    ingest: ingestSchema,
    servers: z.array(serverSchema).readonly(),
    deliveries: z.array(deliverySchema).readonly(),
  })
  .readonly();
type LossMemory = z.output<typeof lossMemorySchema>;

interface ServerLoss extends Loss {
  readonly vsId: string;
}

interface DeliveryStop extends ServerLoss {
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

/** The loss of tasks, if it is large enough to report. */
export function findReportedTasks({
  losses,
  users,
}: {
  losses: CodeLosses;
  users: number;
}): Loss | undefined {
  const isReported =
    (losses.tasks?.before ?? 0) >= ALERT_BOUNDS.lostTasks || users >= ALERT_BOUNDS.usersThatStay;
  return isReported ? losses.tasks : undefined;
}

interface LossListing {
  readonly users: number;
  readonly tasks: number;
  readonly rows: RowsOf<'taskServers' | 'outputs'>;
  readonly flows: ListingFlows;
}

interface LossOptions {
  readonly pollIntervalMs: number;
  readonly stallAfterMs: number;
  /** Servers, and formats of servers, that are followed. */
  readonly maxLabelSets: number;
}

/** Decides what a service code has lost, from listing to listing. */
export class Losses {
  #memory: LossMemory | undefined;
  /** Whether so much time may have passed since that what was lost is not known any more. */
  #isOutdated = false;

  commit(listing: LossListing, at: Instant, options: LossOptions) {
    this.#memory = follow(this.#isOutdated ? undefined : this.#memory, listing, at, options);
    this.#isOutdated = false;
    const losses = listLosses(this.#memory);
    return { losses, rows: toRows(this.#memory, losses) };
  }

  /** `undefined` before the first listing. */
  get memory(): LossMemory | undefined {
    return this.#memory;
  }

  restore(memory: LossMemory, isGapKnown: boolean): void {
    this.#memory = memory;
    this.#isOutdated = !isGapKnown;
  }
}

/** Without memory, or after a gap that is longer than a loss, what was lost before is not known. */
function begin(at: Instant): Omit<LossMemory, 'time'> {
  const unknown = { levels: NO_LEVELS, unknownUntilMs: at.monotonicMs + LONGEST_LOSS_MS };
  return { tasks: unknown, users: unknown, ingest: unknown, servers: [], deliveries: [] };
}

function follow(
  memory: LossMemory | undefined,
  { users, tasks, rows, flows }: LossListing,
  at: Instant,
  { pollIntervalMs, stallAfterMs, maxLabelSets }: LossOptions,
): LossMemory {
  const isGapLong = at.monotonicMs - (memory?.time.at.monotonicMs ?? -Infinity) > LONGEST_LOSS_MS;
  const before = memory === undefined || isGapLong ? begin(at) : memory;
  const time = advance(isGapLong ? undefined : memory?.time, at, tasks, pollIntervalMs);
  const deliveries = followDeliveries(before.deliveries, flows.listDeliveries(rows), time, stallAfterMs);
  return {
    time,
    tasks: followLevel(before.tasks, tasks, time, FALLS.tasks),
    users: followLevel(before.users, users, time, FALLS.users),
    ingest: followIngest(before.ingest, flows, time, stallAfterMs),
    servers: followServers(before.servers, countByServer(rows), time).slice(0, maxLabelSets),
    deliveries: pollIntervalMs > LONGEST_DELIVERY_INTERVAL_MS ? [] : deliveries.slice(0, maxLabelSets),
  };
}

function countByServer({ taskServers: { labelSets, columns } }: LossListing['rows']) {
  const counts = new Map<string, number>();
  for (const [row, labels] of labelSets.entries()) {
    const count = columns.tasks[row] ?? 0;
    if (count > 0 && isNamed(labels)) counts.set(labels[0] ?? '', count);
  }
  return counts;
}

function listLosses({ time, tasks, users, ingest, servers, deliveries }: LossMemory): CodeLosses {
  return {
    tasks: tasks.loss,
    users: users.loss,
    ingest: ingest.stop?.isCertain === true ? ingest.stop : undefined,
    servers: servers.flatMap(({ vsId, loss }) => (loss?.isCertain === true ? [{ ...loss, vsId }] : [])),
    deliveries: deliveries.flatMap(({ labels: [vsId = '', format = ''], stop }) =>
      stop !== undefined && !isOneHourOld(stop, time) ? [{ ...stop, vsId, format }] : [],
    ),
  };
}

const NO_SERVERS = new TextRows('serverLosses');
const NO_DELIVERIES = new TextRows('deliveryStops');

/** The families of losses. Those with labels are present while something is lost. */
function toRows(
  { time, tasks, users, ingest }: LossMemory,
  lost: CodeLosses,
): RowsOf<'losses' | 'serverLosses' | 'deliveryStops'> {
  const losses = new TextRows('losses');
  const serverLosses = lost.servers.length === 0 ? NO_SERVERS : new TextRows('serverLosses');
  const deliveryStops = lost.deliveries.length === 0 ? NO_DELIVERIES : new TextRows('deliveryStops');
  const numberOf = (loss: Loss | undefined, { unknownUntilMs = -Infinity }): number =>
    loss?.before ?? (time.atMs < unknownUntilMs ? Number.NaN : 0);
  losses.set({
    tasksBeforeLoss: numberOf(lost.tasks, tasks),
    usersBeforeLoss: numberOf(lost.users, users),
    tasksBeforeIngestStop: numberOf(lost.ingest, ingest),
  });
  for (const { vsId, before } of lost.servers) serverLosses.set({ serverTasksBeforeLoss: before }, vsId);
  for (const { vsId, format, before } of lost.deliveries)
    deliveryStops.set({ connectionsBeforeStop: before }, vsId, format);
  return { losses, serverLosses, deliveryStops };
}
