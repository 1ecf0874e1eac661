import type { TableFamilyKey } from '../../../src/listing/label-groups.ts';
import type { Snapshot } from '../../../src/tally/snapshot.ts';
import type { TallyOptions } from '../../../src/tally/tally.ts';
import { TallyProcess, type Answer } from '../tally-process.ts';
import { readSamples, readValues, sumValues } from '../tally-run.ts';
import type { LossNight } from './script.ts';
import { EXPECTED_NAME, RunningService, STEP_SECONDS } from './service.ts';

/** What an exporter says after a good listing. */
export interface Told {
  /** `undefined` is unknown. */
  readonly tasks: number | undefined;
  readonly users: number | undefined;
  readonly ingest: number | undefined;
  /** By server. */
  readonly servers: ReadonlyMap<string, number>;
  /** By server, of the one format that is metered. */
  readonly deliveries: ReadonlyMap<string, number>;
  readonly stalled: number;
  readonly longStalled: number;
  readonly expected: { readonly isUp: boolean; readonly rate: number | undefined };
}

/** A good listing. */
export interface ToldListing extends Answer {
  readonly second: number;
  readonly told: Told;
}

/** The good listings of what knows what was before: of one process, or of several with state. */
export type Memory = readonly ToldListing[];

export interface RunOptions extends Partial<TallyOptions> {
  readonly hasState?: boolean;
}

/** Runs a night through the real tally. */
export function runNight(night: LossNight, { hasState, ...options }: RunOptions = {}): readonly Memory[] {
  const { service, intervalSeconds, isUp } = night;
  const running = new RunningService(service);
  const tally = new TallyProcess(
    { pollIntervalMs: intervalSeconds * 1000, ...options },
    hasState ?? night.hasState,
  );
  tally.expectation = { tasks: 1, names: [EXPECTED_NAME] };
  let listings: ToldListing[] = [];
  const memories = [listings];
  let startedAt = 0;
  for (let second = 0; second < night.seconds; second += STEP_SECONDS) {
    if (!isUp.at(second)) continue;
    if (!isUp.at(second - STEP_SECONDS)) {
      tally.restart(second);
      startedAt = second;
      if (!night.hasState) memories.push((listings = []));
    }
    if ((second - startedAt) % intervalSeconds !== 0) continue;
    const answer = running.answer(second);
    if (service.answers.at(second))
      listings.push({ ...answer, second, told: read(tally.poll(answer, second)) });
  }
  return memories;
}

function read(snapshot: Snapshot): Told {
  const one = (family: TableFamilyKey): number | undefined => readSamples(snapshot, family)[0]?.value;
  const byServer = (family: TableFamilyKey) =>
    new Map(readSamples(snapshot, family).map(({ labels: [vsId = ''], value }) => [vsId, value]));
  const total = (family: TableFamilyKey): number => sumValues(readValues(snapshot, family));
  const [expected] = snapshot.expectedTasks;
  return {
    tasks: one('tasksBeforeLoss'),
    users: one('usersBeforeLoss'),
    ingest: one('tasksBeforeIngestStop'),
    servers: byServer('serverTasksBeforeLoss'),
    deliveries: byServer('connectionsBeforeStop'),
    stalled: total('tasksStalled'),
    longStalled: total('tasksLongStalled'),
    expected: { isUp: expected?.condition === 'up', rate: expected?.inputRate },
  };
}
