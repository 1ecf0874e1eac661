import { z } from 'zod';
import { addLevel, isOneHourOld, levelsSchema, listFalls, lossSchema, NO_LEVELS } from './fall.ts';
import type { FALLS, Levels, ListingTime } from './fall.ts';

/** What is remembered of a number of each listing: its levels, or the loss that goes on. */
export const levelLossSchema = z
  .object({
    levels: levelsSchema,
    loss: lossSchema.optional(),
    /** Until then, in monotonic milliseconds, a loss of before the first listing may go on. */
    unknownUntilMs: z.number().optional(),
  })
  .readonly();
export type LevelLoss = z.output<typeof levelLossSchema>;

/** What is known once a loss has ended: only a new fall is another. */
export function endLoss(value: number): { readonly levels: Levels } {
  return { levels: { larger: [], last: value } };
}

/** Takes the number of a listing. A loss is over when half is back once, or after an hour. */
export function followLevel(
  memory: LevelLoss,
  value: number,
  time: ListingTime,
  bounds: (typeof FALLS)['tasks' | 'users'],
): LevelLoss {
  const { levels, loss } = memory;
  if (loss !== undefined) {
    const goesOn = value < loss.before / 2 && !isOneHourOld(loss, time);
    return goesOn ? memory : endLoss(value);
  }
  const [fall] = listFalls(levels, value, time, bounds);
  if (fall !== undefined) return { levels: NO_LEVELS, loss: { before: fall.value, since: time.at } };
  return { ...memory, levels: addLevel(levels, value, time) };
}
