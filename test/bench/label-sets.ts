import { Exposition } from '../../src/metrics/exposition.ts';
import { Store, createUnpolledState } from '../../src/poller/store.ts';
import { AccumulatorPool } from '../../src/tally/accumulator-pool.ts';
import { DEFAULT_MAX_LABEL_SETS, Tally } from '../../src/tally/tally.ts';
import { RecordAggregator } from '../oracle/tally/record-aggregator.ts';
import {
  buildInputRecord,
  buildOutputRecord,
  buildStreamRecord,
  buildTaskRecord,
  buildUserRecord,
} from '../support/record-builders.ts';
import { compare, measureCpuMs, quantile, type Comparison } from './measure.ts';

/** Numbers of service codes and of label values in each listing. */
export interface LabelSetsSize {
  readonly codes: number;
  readonly servers: number;
  readonly versions: number;
  readonly deviceTypes: number;
  readonly rounds: number;
}

const SIZE: LabelSetsSize = { codes: 20, servers: 100, versions: 50, deviceTypes: 20, rounds: 5 };
const NOW_MS = Date.UTC(2026, 0, 1);
const POLL_MS = 15_000;
const OUTPUTS = [
  { format: 'flv', videoCodecName: 'libx264', width: 1280, height: 720 },
  { format: 'rtmp', videoCodecName: 'libx264', width: 640, height: 360 },
  { format: 'm3u8', videoCodecName: 'libx265', width: 480, height: 270 },
];

/** Measures the CPU time of an exposition with the label sets of a large service, without a network. */
export async function benchLabelSets(size: LabelSetsSize = SIZE): Promise<Comparison[]> {
  const tallies = Array.from({ length: size.codes }, (_, code) => createTally(`CODE${code}`));
  const store = new Store();
  const exposition = new Exposition();
  let listings = 0;
  const poll = (): void => {
    for (const tally of tallies) publish(store, tally, size, listings);
    listings += 1;
  };
  const render = () =>
    exposition.renderBody('service_codes', store.collectFamilies(listings * POLL_MS), 'text').bytes;
  // The second poll shows gains of counters.
  poll();
  poll();
  const [changed, unchanged]: [number[], number[]] = [[], []];
  for (let round = 0; round < size.rounds; round += 1) {
    poll();
    changed.push(await measureCpuMs(render));
    unchanged.push(await measureCpuMs(render));
  }
  const series = render().toString().match(/^[^#]/gm)?.length ?? 0;
  const name = `${size.codes} codes with ${size.servers} servers, ${size.versions} versions and ${size.deviceTypes} types each`;
  return [
    compare(
      { name: `${name}, series`, unit: 'series', value: series },
      { measure: 'value', direction: 'at most' },
    ),
    ...Object.entries({ changed, unchanged }).map(([what, times]) =>
      compare(
        { name: `${name}, exposition, ${what}, CPU`, unit: 'ms', value: quantile(times, 0.5) },
        { measure: 'value', direction: 'at most' },
      ),
    ),
  ];
}

function createTally(serviceCode: string): Tally {
  const options = { maxLabelSets: DEFAULT_MAX_LABEL_SETS, stallAfterMs: 60_000, perTask: false, maxTasks: 0 };
  return new Tally({ serviceCode, ...options });
}

function publish(
  store: Store,
  tally: Tally,
  { servers, versions, deviceTypes }: LabelSetsSize,
  listings: number,
): void {
  const listing = new RecordAggregator(new AccumulatorPool());
  for (let user = 0; user < versions * deviceTypes; user += 1) {
    const [clientVersion, deviceType] = [String(user % versions), String(Math.floor(user / versions))];
    for (let copy = 0; copy <= (user + listings) % 3; copy += 1)
      listing.addUser(
        buildUserRecord({ vsId: `server-${(user + copy) % servers}`, clientVersion, deviceType }),
      );
  }
  for (let task = 0; task < 10 * servers; task += 1) {
    const bytes = 1000 * (task + 1) * (listings + 1);
    const input = {
      clientVersion: String(task % versions),
      deviceType: String(Math.floor(task / versions) % deviceTypes),
    };
    listing.addTask(
      buildTaskRecord({
        id: `task-${task}`,
        vsId: `server-${task % servers}`,
        inputBytes: bytes,
        inputs: [buildInputRecord(input)],
        outputs: OUTPUTS.map((output) =>
          buildOutputRecord({
            ...output,
            fileName: output.format,
            httpOutputBytes: bytes,
            httpConnectionsNum: (task + listings) % 9,
            streams: [buildStreamRecord(), buildStreamRecord({ codecType: 1, codecId: 86018, copy: 1 })],
          }),
        ),
      }),
    );
  }
  listing.finish();
  const at = { wallMs: NOW_MS + listings * POLL_MS, monotonicMs: listings * POLL_MS };
  const state = createUnpolledState(tally.serviceCode, 3 * POLL_MS);
  store.publish({ ...state, isUp: true, ret: 0, snapshot: tally.commit(listing, at) });
}
