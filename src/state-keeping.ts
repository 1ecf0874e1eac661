import type { Clock } from './clock.ts';
import type { Configuration } from './config/configuration.ts';
import type { Logger } from './log.ts';
import type { SelfMetrics } from './metrics/self.ts';
import type { PolledCode } from './poller/polled-code.ts';
import { newTally, type Poller } from './poller/poller.ts';
import { machineFiles } from './state/file-system.ts';
import { openState } from './state/open-state.ts';
import { StateKeeper } from './state/state-keeper.ts';
import type { Tally } from './tally/tally.ts';

interface Outside {
  readonly clock: Clock;
  readonly logger: Logger;
}

/** What the state file says of the service codes that are polled; nothing where no state is kept. */
export async function restoreTallies(
  codes: readonly PolledCode[],
  { state, metrics }: Configuration,
  outside: Outside,
): Promise<ReadonlyMap<string, Tally>> {
  if (state.file === undefined) return new Map();
  const byServiceCode = new Map(codes.map((code) => [code.target.serviceCode, code]));
  const tallyFor = (serviceCode: string): Tally | undefined => {
    const code = byServiceCode.get(serviceCode);
    return code === undefined ? undefined : newTally(code, metrics);
  };
  return await openState({ path: state.file, files: machineFiles, tallyFor, ...outside });
}

/** What writes the state of a poller; `undefined` where none is kept. */
export function createKeeper(
  { poller, self }: { readonly poller: Poller; readonly self: SelfMetrics },
  { state }: Configuration,
  outside: Outside,
): StateKeeper | undefined {
  if (state.file === undefined) return undefined;
  return new StateKeeper({
    path: state.file,
    intervalMs: state.intervalMs,
    files: machineFiles,
    tallies: () => poller.tallies,
    metrics: self.trackState(),
    ...outside,
  });
}
