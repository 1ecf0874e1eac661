import { z } from 'zod';
import { internLabels } from '../../families/label-set.ts';
import type { Instant } from '../../runtime/instant.ts';
import type { DeliveriesMemory } from './delivery-stops.ts';
import type { ListingTime } from './fall.ts';
import type { IngestMemory } from './ingest-stop.ts';
import type { LevelMemory } from './level-loss.ts';
import type { ServersMemory } from './server-losses.ts';

/** What is remembered of a service code. */
export interface LossMemory {
  /** From then on, in monotonic milliseconds, no loss of before the first listing can go on. */
  readonly knownFromMs: number;
  readonly time: ListingTime;
  readonly tasks: LevelMemory;
  readonly users: LevelMemory;
  readonly ingest: IngestMemory;
  readonly servers: ServersMemory;
  readonly deliveries: DeliveriesMemory;
}

/* As it is in the record of a service code, which has the time of the listing. */

const number = z.number();
const instantSchema = z.object({ monotonicMs: number, wallMs: number });
const levelSchema = z.object({ value: number, atMs: number, seenMs: number, singleEnds: number });
const levelsSchema = z.object({ kept: z.array(levelSchema).readonly(), last: number.optional() });
const lossSchema = z.object({ before: number, since: instantSchema });
const levelMemorySchema = z.object({ levels: levelsSchema, loss: lossSchema.optional() });
const stopSchema = lossSchema.extend({ unfedAfterMs: number });
const deliverySchema = z.object({
  flowed: instantSchema,
  connections: number,
  stop: lossSchema.optional(),
});

export const lossesSchema = z.object({
  knownFromMs: number.optional(),
  time: z.object({ beforeMs: number, seenMs: number, singleEnds: number, singleEndsBefore: number }),
  tasks: levelMemorySchema,
  users: levelMemorySchema,
  ingest: z.object({
    levels: levelsSchema,
    suspected: stopSchema.optional(),
    stop: stopSchema.optional(),
  }),
  servers: z.array(z.tuple([z.string(), levelMemorySchema]).readonly()).readonly(),
  total: number,
  received: z.array(z.tuple([z.string(), instantSchema]).readonly()).readonly(),
  deliveries: z.array(z.tuple([z.string(), z.string(), deliverySchema]).readonly()).readonly(),
});

export type PersistedLosses = z.output<typeof lossesSchema>;

export function packMemory(memory: LossMemory): PersistedLosses {
  const { knownFromMs, time, servers, deliveries, ...levels } = memory;
  const { at, ...seen } = time;
  return {
    ...levels,
    knownFromMs: knownFromMs > at.monotonicMs ? knownFromMs : undefined,
    time: seen,
    servers: [...servers.servers],
    total: servers.total,
    // What flowed in the listing begins anew with the next one.
    received: [...deliveries.received].flatMap(([[vsId = ''], flowed]) =>
      flowed === at ? [] : [[vsId, flowed] as const],
    ),
    deliveries: [...deliveries.deliveries].flatMap(([[vsId = '', format = ''], delivery]) =>
      delivery.flowed === at ? [] : [[vsId, format, delivery] as const],
    ),
  };
}

export function unpackMemory(persisted: PersistedLosses, at: Instant): LossMemory {
  const { knownFromMs = -Infinity, time, servers, total, received, deliveries, ...levels } = persisted;
  return {
    ...levels,
    knownFromMs,
    time: { ...time, at },
    servers: { servers: new Map(servers), total },
    deliveries: {
      received: new Map(received.map(([vsId, flowed]) => [internLabels([vsId]), flowed])),
      deliveries: new Map(
        deliveries.map(([vsId, format, delivery]) => [internLabels([vsId, format]), delivery]),
      ),
    },
  };
}
