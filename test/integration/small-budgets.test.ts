import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Snapshot } from '../../src/tally/snapshot.ts';
import { AccountBudget } from '../../src/tally/account-budget.ts';
import type { TaskRecord } from '../support/listing-records.ts';
import { Random } from '../support/random.ts';
import { buildInputRecord, buildOutputRecord, buildTaskRecord } from '../support/record-builders.ts';
import { readAllSamples, readLifetimes, readValues, STEP_MS, TallyRun } from '../support/tally-run.ts';

const WORLDS = 100;
const STEPS = 30;
const CODES = [0, 1];
const MIN_PLACES = 3;
const MAX_PLACES = 30;
const SERVERS = ['server-1', 'server-2'];

const countPlaces = ({ inputs, outputs }: TaskRecord): number => Math.max(1, inputs.length) + outputs.length;

/** Service codes that share a budget, each beside one that has no limit and gets the same listings. */
class LimitedCodes {
  readonly #budget: AccountBudget;
  readonly #pairs: readonly { readonly limited: TallyRun; readonly unlimited: TallyRun }[];

  constructor(places: number, codes: readonly number[], maxStreamRate?: number) {
    const accountBudget = new AccountBudget(places);
    const options = maxStreamRate === undefined ? {} : { maxStreamRate };
    this.#budget = accountBudget;
    this.#pairs = codes.map(() => ({
      limited: new TallyRun({ ...options, accountBudget }),
      unlimited: new TallyRun(options),
    }));
    for (const { limited } of this.#pairs) accountBudget.add(limited.tally.accountShare);
  }

  /**
   * Reserves accounts as the reader does. Returns the tasks that get some, which is all if the listing is
   * good.
   */
  read(code: number, tasks: readonly TaskRecord[]): readonly TaskRecord[] {
    const share = this.#get(code).limited.tally.accountShare;
    const read = tasks.filter((task) => share.reserve(countPlaces(task)));
    for (const task of read) share.release(countPlaces(task));
    return read;
  }

  /** Returns what a listing gives with the limit, and without. */
  commit(code: number, tasks: readonly TaskRecord[], afterMs: number): readonly [Snapshot, Snapshot] {
    const { limited, unlimited } = this.#get(code);
    const read = this.read(code, tasks);
    return [limited.commitListing({ tasks: read }, afterMs), unlimited.commitListing({ tasks }, afterMs)];
  }

  restart(): void {
    for (const { limited, unlimited } of this.#pairs) {
      this.#budget.remove(limited.tally.accountShare);
      for (const run of [limited, unlimited]) run.restart({}, 1);
      this.#budget.add(limited.tally.accountShare);
    }
  }

  get size(): number {
    const { live, departed } = this.#budget.counts;
    return live + departed;
  }

  #get(code: number) {
    const pair = this.#pairs[code];
    if (pair === undefined) throw new TypeError(`Expected a code, found ${code}`);
    return pair;
  }
}

/** What the service meters: it leaves and returns, and its count grows while it is listed. */
class Thing {
  bytes: number;
  readonly name: string;
  readonly #random: Random;

  constructor(random: Random, name: string) {
    this.#random = random;
    this.name = name;
    this.bytes = random.integer(1000);
  }

  list(): number {
    this.bytes += this.#random.integer(1000);
    return this.bytes;
  }
}

/** A task with all that it ever has: so many places are enough for it. */
class Task {
  readonly places: number;
  readonly code: number;
  readonly #id: string;
  readonly #random: Random;
  readonly #input: Thing;
  readonly #inputs: readonly Thing[];
  readonly #outputs: readonly Thing[];

  constructor(random: Random, id: string, maxPlaces: number) {
    const createThings = (count: number) =>
      Array.from({ length: count }, (_, index) => new Thing(random, `${index}`));
    const inputs = random.chance(0.3) ? 1 + random.integer(Math.min(3, maxPlaces)) : 0;
    const outputs = random.integer(Math.min(4, 1 + maxPlaces - Math.max(1, inputs)));
    this.#random = random;
    this.#id = id;
    this.code = random.pick(CODES);
    this.#input = new Thing(random, 'own');
    this.#inputs = createThings(inputs);
    this.#outputs = createThings(outputs);
    this.places = Math.max(1, inputs) + outputs;
  }

  list(): TaskRecord {
    const random = this.#random;
    const pickSome = (things: readonly Thing[]) => things.filter(() => random.chance(0.7));
    const [firstInput] = this.#inputs;
    const inputs = pickSome(this.#inputs);
    // A task without inputs has a place for its input besides.
    if (firstInput !== undefined && inputs.length === 0) inputs.push(firstInput);
    return buildTaskRecord({
      id: this.#id,
      vsId: random.pick(SERVERS),
      inputBytes: firstInput === undefined ? this.#input.list() : undefined,
      inputs: inputs.map((input) =>
        buildInputRecord({ identity: Number(input.name), inputBytes: input.list() }),
      ),
      outputs: pickSome(this.#outputs).map((output) =>
        buildOutputRecord({ fileName: output.name, httpOutputBytes: output.list() }),
      ),
    });
  }
}

function createTasks(random: Random, places: number): readonly Task[] {
  const tasks: Task[] = [];
  for (let left = places; left > 0; left -= tasks.at(-1)?.places ?? left)
    tasks.push(new Task(random, `task-${tasks.length}`, left));
  return tasks;
}

test(`${WORLDS} worlds that just fit into a budget give what they give without a limit`, () => {
  let fullWorlds = 0;
  for (let seed = 1; seed <= WORLDS; seed += 1) {
    const random = new Random(seed);
    const places = MIN_PLACES + random.integer(MAX_PLACES - MIN_PLACES + 1);
    const tasks = createTasks(random, places);
    const codes = new LimitedCodes(places, CODES);
    let isFull = false;
    for (let step = 0; step < STEPS; step += 1) {
      const code = random.pick(CODES);
      const listed = random.shuffle(tasks.filter((task) => task.code === code && random.chance(0.7)));
      if (random.chance(0.1)) codes.restart();
      const records = listed.map((task) => task.list());
      // The listing fails, and comes again.
      if (random.chance(0.2)) codes.read(code, records);
      const [limited, unlimited] = codes.commit(code, records, STEP_MS);
      assert.deepEqual(readAllSamples(limited), readAllSamples(unlimited), `seed ${seed}, step ${step}`);
      isFull ||= codes.size === places;
    }
    if (isFull) fullWorlds += 1;
  }
  assert.ok(fullWorlds > 0.9 * WORLDS, `${fullWorlds}`);
});

/** What a stream carries between two listings. */
const CARRIED_BYTES = 1000;

/** A task that counts whether it is listed or not, and renames its outputs. */
class Stream {
  readonly #id: string;
  readonly #server: string;
  readonly #random: Random;
  readonly #counts = new Map<string, number>();
  readonly #inputs: readonly number[];
  readonly #outputs: number;

  constructor(random: Random, id: string, inputs: readonly number[], outputs: number) {
    this.#random = random;
    this.#id = id;
    this.#server = random.pick(SERVERS);
    this.#inputs = inputs;
    this.#outputs = outputs;
  }

  /**
   * Nearly as much as a stream carries: two such steps are too much for what began after the last listing.
   */
  grow(): void {
    for (const [name, bytes] of this.#counts)
      this.#counts.set(name, bytes + CARRIED_BYTES - 1 - this.#random.integer(CARRIED_BYTES / 20));
  }

  list(): TaskRecord {
    const names = this.#random.shuffle(['a', 'b', 'c', 'd', 'e', 'f']).slice(0, this.#outputs);
    return buildTaskRecord({
      id: this.#id,
      vsId: this.#server,
      inputBytes: this.#inputs.length === 0 ? this.#count('own') : undefined,
      inputs: this.#inputs.map((identity) =>
        buildInputRecord({ identity, inputBytes: this.#count(`${identity}`) }),
      ),
      outputs: names.map((fileName) =>
        buildOutputRecord({ fileName, httpOutputBytes: this.#count(fileName) }),
      ),
    });
  }

  #count(name: string): number {
    const bytes = this.#counts.get(name) ?? this.#random.integer(CARRIED_BYTES);
    this.#counts.set(name, bytes);
    return bytes;
  }
}

/** Counters by label set, and of lifetimes. */
function listCounts(snapshot: Snapshot): ReadonlyMap<string, number> {
  const { buckets, sum } = readLifetimes(snapshot);
  const keys = ['inputBytes', 'httpOutputBytes', 'tasksStarted', 'tasksEnded'] as const;
  return new Map([
    ['lifetimes', buckets.at(-1) ?? 0],
    ['sum of lifetimes', sum],
    ...keys.flatMap((key) =>
      Object.entries(readValues(snapshot, key)).map(
        ([labels, value]) => [`${key} ${labels}`, value] as const,
      ),
    ),
  ]);
}

test(`${WORLDS} worlds that are too large for a budget give no more than without a limit`, () => {
  let lostWorlds = 0;
  for (let seed = 1; seed <= WORLDS; seed += 1) {
    const random = new Random(seed);
    const places = MIN_PLACES + random.integer(MAX_PLACES - MIN_PLACES + 1);
    // Tasks of one size: a smaller one would get what is left, and lose it to a larger one before it.
    const inputs = [0, 1].slice(random.integer(3));
    const outputs = random.integer(4);
    const streams = Array.from(
      { length: 3 + random.integer(20) },
      (_, index) => new Stream(random, `${index}`, inputs, outputs),
    );
    const codes = new LimitedCodes(places, [0], (1000 * CARRIED_BYTES) / STEP_MS);
    codes.commit(0, [], STEP_MS);
    let listed: readonly Stream[] = [];
    let isLost = false;
    for (let step = 0; step < STEPS; step += 1) {
      // A task that begins or returns comes last, so that none before it loses its account.
      const arrived = streams.filter((stream) => !listed.includes(stream) && random.chance(0.3));
      listed = [...listed.filter(() => random.chance(0.8)), ...arrived];
      const failures = random.chance(0.2) ? 1 + random.integer(2) : 0;
      for (let poll = 0; poll <= failures; poll += 1) for (const stream of streams) stream.grow();
      if (random.chance(0.1)) codes.restart();
      const records = listed.map((stream) => stream.list());
      if (failures > 0) codes.read(0, records);
      const [limited, unlimited] = codes.commit(0, records, (1 + failures) * STEP_MS);
      const whole = listCounts(unlimited);
      for (const [key, count] of listCounts(limited)) {
        assert.ok(count <= (whole.get(key) ?? 0), `seed ${seed}, step ${step}, ${key}: ${count}`);
        isLost ||= count < (whole.get(key) ?? 0);
      }
      assert.ok(codes.size <= places, `seed ${seed}, step ${step}: ${codes.size} of ${places}`);
    }
    if (isLost) lostWorlds += 1;
  }
  assert.ok(lostWorlds > 0.5 * WORLDS, `${lostWorlds}`);
});
