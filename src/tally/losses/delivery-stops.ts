import { z } from 'zod';
import { internLabels, type LabelSet } from '../../families/label-set.ts';
import { lossSchema, type ListingTime } from './fall.ts';

/** So many viewers begin the watch: fewer may leave bytes uncounted for a while. */
const LEAST_CONNECTIONS = 5;

/** What a format of a server delivers of tasks whose own input flows. */
export interface Delivery {
  readonly labels: LabelSet;
  readonly connections: number;
  readonly isFlowing: boolean;
  /** When an input of the tasks last flowed, in monotonic milliseconds. */
  readonly receivedMs: number;
}

/** A format of a server that is watched: it has viewers. */
export const deliverySchema = z
  .object({
    /** Server and format. */
    labels: z.array(z.string()).transform(internLabels),
    /** The last listing with bytes, or the first with so many viewers, in monotonic milliseconds. */
    flowedMs: z.number(),
    /** Its viewers then. */
    connections: z.number(),
    stop: lossSchema.optional(),
  })
  .readonly();
export type DeliveryMemory = z.output<typeof deliverySchema>;

/** Takes the deliveries of a listing that have viewers. */
export function followDeliveries(
  before: readonly DeliveryMemory[],
  deliveries: readonly Delivery[],
  time: ListingTime,
  stallAfterMs: number,
): readonly DeliveryMemory[] {
  const known = new Map(before.map((memory) => [memory.labels, memory]));
  const { wallMs, monotonicMs: nowMs } = time.at;
  const beforeMs = time.before?.atMs ?? nowMs;
  const watched: DeliveryMemory[] = [];
  for (const { labels, connections, isFlowing, receivedMs } of deliveries) {
    const memory = known.get(labels);
    if (memory !== undefined && !isFlowing) {
      const { flowedMs } = memory;
      // The input has flowed for long without a byte. One listing may lack the bytes of an ended task.
      const hasStopped = receivedMs - flowedMs >= stallAfterMs && flowedMs < beforeMs;
      const since = { monotonicMs: flowedMs, wallMs: wallMs - (nowMs - flowedMs) };
      const stop = memory.stop ?? (hasStopped ? { before: memory.connections, since } : undefined);
      watched.push({ ...memory, stop });
    } else if (connections >= LEAST_CONNECTIONS) watched.push({ labels, flowedMs: nowMs, connections });
  }
  return watched;
}
