import { setImmediate as nextTurn } from 'node:timers/promises';
import { Histogram } from '../../../src/families/histogram.ts';
import type { PolledCode } from '../../../src/poller/polled-code.ts';
import { createTally, Poller } from '../../../src/poller/poller.ts';
import { createLogger } from '../../../src/runtime/logger.ts';
import { selectShard } from '../../../src/sharding/shard.ts';
import { DatabaseError } from '../../../src/state/level-database.ts';
import { Store } from '../../../src/poller/store.ts';
import { StateStore } from '../../../src/state/state-store.ts';
import { readInstant, type Instant } from '../../../src/runtime/instant.ts';
import type { Counts, Snapshot } from '../../../src/tally/snapshot.ts';
import { UpstreamError } from '../../../src/upstream/errors.ts';
import { ManualClient, TARGET, type PendingRequest } from '../manual-client.ts';
import { ManualClock } from '../manual-clock.ts';
import { Random } from '../random.ts';
import { getReaderPool } from '../read-listing.ts';
import { TemporaryFolder } from '../temporary-folder.ts';
import { Audit } from './audit.ts';
import {
  checkGauges,
  checkNoFall,
  checkRestored,
  checkRuns,
  checkTotals,
  readTotals,
  SimulationError,
} from './checks.ts';
import { SimulatedDisk } from './disk.ts';
import { ListingSource, type Listing } from './listings.ts';
import { expectHidden, NameAudit, type NamedListing } from './names.ts';
import {
  hasBegunAgain,
  hasEqualParts,
  NAMES,
  STREAM_RATE,
  World,
  writeListing,
  type SimulatedTask,
} from './world.ts';

const CODES = ['A', 'B', 'C', 'D'];
const START_MS = Date.UTC(2026, 0, 1);
const HOUR_MS = 60 * 60 * 1000;
const MAX_SKEW_MS = 5 * 24 * HOUR_MS;
const INTERVALS_MS = [15_000, 60_000, 120_000, 300_000];
const TURNS_BEFORE_TIME_PASSES = 8;
const REPORTED_STEPS = 40;

const logger = createLogger({ level: 'error', format: 'json', destination: { write: () => undefined } });
/** The clock of one process: its monotonic time begins anywhere, its wall clock can be wrong. */
class ProcessClock extends ManualClock {
  readonly #readWallMs: () => number;

  constructor(startedMs: number, readWallMs: () => number) {
    super(startedMs);
    this.#readWallMs = readWallMs;
  }

  override now(): number {
    return this.#readWallMs();
  }
}

/** A run of the exporter. */
interface Process {
  readonly clock: ProcessClock;
  readonly client: ManualClient;
  readonly store: Store;
  readonly stateStore: StateStore;
  readonly poller: Poller;
  readonly killed: Promise<'killed'>;
}

export interface SimulationReport {
  readonly listings: number;
  readonly failedPolls: number;
  readonly kills: number;
  readonly restarts: number;
  readonly comparisons: number;
  readonly years: number;
}

/**
 * Years of polls in minutes: the real poller, tallies and state store with a simulated clock, disk and
 * service. Episodes of random faults alternate with quiet times. Everything comes from the seed.
 */
export class Simulation {
  readonly #seed: number;
  readonly #random: Random;
  readonly #world: World;
  readonly #disk: SimulatedDisk<Audit>;
  /** The database is in memory; the store creates its folder, and marks in it that it opens it. */
  readonly #folder = new TemporaryFolder();
  readonly #sources: ReadonlyMap<string, ListingSource>;
  readonly #nameAudits = new Map(CODES.map((code) => [code, new NameAudit()]));
  readonly #expectedNames = new Map<string, readonly string[]>();
  #audits = new Map(CODES.map((code) => [code, new Audit()]));
  /** The tasks of the last listing that the process got of each code. */
  readonly #lastListings = new Map<string, Listing & { readonly users: number }>();
  #process: Process | undefined;
  #intervalMs = 15_000;
  #skewMs = 0;
  #polledCodes: readonly string[] = CODES;
  #shardCount = 1;
  #isDiskFaulty = false;
  #endHang: () => void = () => undefined;
  #steps: string[] = [];
  #counts = { listings: 0, failedPolls: 0, kills: 0, restarts: 0, comparisons: 0 };

  constructor(seed: number) {
    this.#seed = seed;
    this.#random = new Random(seed);
    this.#world = new World(this.#random, START_MS);
    this.#disk = new SimulatedDisk((code) => this.#getAudit(code).copy());
    this.#sources = new Map(CODES.map((code) => [code, new ListingSource(this.#world, this.#random, code)]));
    for (const code of CODES)
      for (let count = 0; count < 6; count += 1) this.#world.start(code, 24 * HOUR_MS);
  }

  get report(): SimulationReport {
    const years = (this.#world.nowMs - START_MS) / (365 * 24 * HOUR_MS);
    return { ...this.#counts, years };
  }

  /** Runs whole episodes until `isOver`. Rejects with the last steps if the counters are wrong. */
  async run(isOver: (report: SimulationReport) => boolean): Promise<SimulationReport> {
    try {
      await this.#start();
      while (!isOver(this.report)) await this.#runEpisode();
      await this.#stop();
    } catch (error) {
      const steps = this.#steps.slice(-REPORTED_STEPS).join('\n');
      throw new Error(`Simulation failed with --seed=${this.#seed}; last steps:\n${steps}`, { cause: error });
    } finally {
      this.#folder[Symbol.dispose]();
    }
    return this.report;
  }

  async #runEpisode(): Promise<void> {
    const random = this.#random;
    const rounds = 3 + random.integer(20);
    for (let round = 0; round < rounds; round += 1) {
      await this.#disturb();
      await this.#pollAll(false);
    }
    await this.#calm();
    const settleMs = Math.max(10 * 60 * 1000, 5 * this.#intervalMs);
    const quietRounds = Math.ceil(settleMs / this.#intervalMs) + 5;
    for (let round = 0; round < quietRounds; round += 1) await this.#pollAll(true);
    for (const code of this.#polledCodes) this.#getAudit(code).settle(readTotals(this.#getCounts(code)));
    this.#note('settled');
    for (let round = 0; round < 3; round += 1) await this.#pollAll(true);
  }

  /** Ends all faults. */
  async #calm(): Promise<void> {
    this.#repairDisk();
    for (const task of this.#world.tasks) {
      task.hiddenFor = 0;
      for (const thing of task.metered) thing.hiddenFor = 0;
    }
    if (this.#shardCount > 1) await this.#reshard(1);
    if (this.#polledCodes.length < CODES.length) await this.#reload(CODES);
    if (!this.#random.chance(0.2)) return;
    this.#intervalMs = this.#random.pick(INTERVALS_MS);
    await this.#restart(this.#intervalMs);
  }

  /** What happens between two polls. */
  async #disturb(): Promise<void> {
    const random = this.#random;
    this.#disk.killAt = undefined;
    for (const task of this.#world.tasks)
      for (const hidden of [task, ...task.metered]) if (hidden.hiddenFor > 0) hidden.hiddenFor -= 1;
    if (random.chance(0.1)) this.#partition();
    if (random.chance(0.3)) this.#leave();
    if (random.chance(0.3)) this.#leavePart();
    if (random.chance(0.2)) this.#reset(this.#pickTask());
    if (random.chance(0.1)) this.#failBack();
    if (random.chance(0.03)) this.#restartServer();
    if (random.chance(0.2)) this.#leap();
    if (random.chance(0.3)) this.#switchSource();
    if (random.chance(0.3)) this.#move();
    if (random.chance(0.2)) this.#rename();
    if (random.chance(0.2)) await this.#expect();
    if (random.chance(0.05)) this.#changeDisk();
    if (random.chance(0.05)) await this.#restart(this.#intervalMs + random.integer(5 * HOUR_MS));
    if (random.chance(0.05)) await this.#kill('killed between two polls');
    if (random.chance(0.03)) await this.#losePower();
    if (random.chance(0.01)) await this.#loseState();
    if (random.chance(0.02)) await this.#restartWithWrongClock();
    if (random.chance(0.05)) this.#stepClock();
    if (random.chance(0.02)) this.#suspend();
    if (random.chance(0.05) && !this.#isDiskFaulty && this.#shardCount === 1)
      await this.#reload(CODES.filter(() => random.chance(0.7)));
    if (random.chance(0.02)) await this.#reshard(this.#shardCount === 1 ? 2 : 1);
    if (random.chance(0.1) && !this.#isDiskFaulty)
      this.#disk.killAt = random.pick(['before write', 'after write']);
  }

  /** Tasks start and end. */
  #churn(): void {
    const random = this.#random;
    for (const code of CODES) {
      const tasks = this.#world.listTasks(code);
      if (tasks.length < 12 && random.chance(0.15)) this.#world.start(code, random.integer(this.#intervalMs));
      if (tasks.length > 4 && random.chance(0.1)) this.#world.end(random.pick(tasks));
    }
  }

  #partition(): void {
    const server = this.#random.pick(this.#world.servers);
    this.#note(`partition of ${server}`);
    const hiddenFor = 1 + this.#random.integer(10);
    for (const task of this.#world.tasks) if (task.server === server) task.hiddenFor = hiddenFor;
  }

  #leave(): void {
    const task = this.#pickTask();
    task.hiddenFor = 1 + this.#random.integer(6);
    this.#note(`${task.id} leaves`);
  }

  /** A participant leaves, or an output is not listed for a while. */
  #leavePart(): void {
    const task = this.#pickTask();
    // The one that stays could be taken for the one that left, until that returns.
    if (hasEqualParts(task)) return;
    this.#random.pick(task.metered).hiddenFor = 1 + this.#random.integer(6);
    this.#note(`a part of ${task.id} leaves`);
  }

  #reset(task: SimulatedTask): void {
    if (hasBegunAgain(task)) return;
    // A service that fails over starts the task on another server.
    if (this.#random.chance(0.3)) task.server = this.#random.pick(this.#world.servers);
    this.#note(`${task.id} begins again on ${task.server}`);
    for (const thing of task.metered) thing.forgotten = thing.carried;
  }

  /** The service counts on from where a task was before it began again. */
  #failBack(): void {
    const task = this.#pickTask();
    // A task that has carried less can be back at its former count by itself.
    const isFarBelow = task.metered.every(({ carried, forgotten }) => forgotten > 3 * (carried - forgotten));
    if (!isFarBelow || this.#getAudit(task.serviceCode).isDoubtful(task)) return;
    this.#note(`${task.id} counts on`);
    for (const thing of task.metered) thing.forgotten = 0;
  }

  /** All tasks of a server begin again. */
  #restartServer(): void {
    const server = this.#random.pick(this.#world.servers);
    this.#note(`${server} restarts`);
    for (const task of this.#world.tasks) if (task.server === server) this.#reset(task);
  }

  /** A task carries more than a stream, which a link can carry. */
  #leap(): void {
    const task = this.#pickTask();
    const audit = this.#getAudit(task.serviceCode);
    const areTrue = audit.tasks.get(task)?.wrongListings === 0;
    if (!areTrue || hasEqualParts(task) || audit.isDoubtful(task)) return;
    this.#note(`${task.id} leaps`);
    task.hasLeapt = true;
    for (const thing of task.metered) thing.carried += 2e9 + this.#random.integer(73e9);
  }

  /** The service shows the input bytes of a task instead of those of its inputs, or the other way round. */
  #switchSource(): void {
    const task = this.#pickTask();
    if (!task.hasInputs) return;
    task.source = task.source === 'task' ? 'inputs' : 'task';
    this.#note(`${task.id} shows its ${task.source}`);
  }

  /** The bytes that a task reports go on under another server. */
  #move(): void {
    const task = this.#pickTask();
    task.server = this.#random.pick(this.#world.servers);
    this.#note(`${task.id} moves to ${task.server}`);
  }

  #rename(): void {
    const task = this.#pickTask();
    task.name = this.#random.pick([...NAMES, undefined]);
    this.#note(`${task.id} is named ${task.name}`);
  }

  /** A reload adds names to what is expected of a code, or removes some. */
  async #expect(): Promise<void> {
    const code = this.#random.pick(CODES);
    const names = NAMES.filter(() => this.#random.chance(0.6));
    this.#note(`${code}: names ${names.join(' ')} are expected`);
    this.#expectedNames.set(code, names);
    const { poller, store } = this.#getProcess();
    await poller.apply(this.#polledCodes.map((polled) => this.#toPolledCode(polled)));
    const rows = store.get(code)?.snapshot?.rows;
    if (rows !== undefined) expectHidden(rows, names);
  }

  /** The disk is full or hangs, or works again. */
  #changeDisk(): void {
    if (this.#isDiskFaulty) return this.#repairDisk();
    this.#isDiskFaulty = true;
    const isFull = this.#random.chance(0.5);
    this.#note(isFull ? 'disk full' : 'disk hangs');
    if (isFull) this.#disk.faults.failure = new DatabaseError('failing', 'no space left on device');
    else
      this.#disk.faults.hang = new Promise((resolve) => {
        this.#endHang = resolve;
      });
  }

  #repairDisk(): void {
    if (this.#isDiskFaulty) this.#note('disk works');
    this.#isDiskFaulty = false;
    this.#disk.killAt = undefined;
    this.#disk.faults.failure = undefined;
    this.#disk.faults.hang = undefined;
    this.#endHang();
  }

  #pickTask(): SimulatedTask {
    return this.#random.pick(this.#world.tasks);
  }

  async #start(): Promise<void> {
    const isOwn = (code: string): boolean => selectShard(code, this.#shardCount) === 0;
    const own = new Set(this.#polledCodes.filter((code) => isOwn(code)));
    const others = new Set(CODES.filter((code) => !isOwn(code)));
    const clock = new ProcessClock(this.#random.integer(1e9), () => this.#world.nowMs + this.#skewMs);
    const client = new ManualClient(clock);
    const store = new Store();
    const codes = [...own].map((code) => this.#toPolledCode(code));
    const tallySettings = {
      maxLabelSets: 100,
      perTask: true,
      maxTasks: 1000,
      maxStreamRate: STREAM_RATE,
    };
    const killed = this.#disk.waitForKill().then(() => 'killed' as const);
    const stateStore = await StateStore.open(
      { path: this.#folder.at('state'), clock, logger, open: this.#disk.open },
      {
        createTally: (serviceCode) => {
          const code = codes.find((polled) => polled.serviceCode === serviceCode);
          return code && createTally(code, tallySettings);
        },
        codesOnOtherShards: others,
      },
    );
    for (const code of others) this.#disk.forget(code);
    const poller = new Poller({
      codes,
      tallySettings,
      persistence: stateStore,
      client,
      readers: getReaderPool(),
      store,
      pollDurations: new Histogram([]),
      clock,
      logger,
    });
    this.#process = { clock, client, store, stateStore, poller, killed };
    this.#polledCodes = [...own];
    this.#audits = new Map(CODES.map((code) => [code, this.#disk.getNote(code)?.copy() ?? new Audit()]));
    for (const code of CODES) this.#getAudit(code).restart(this.#now);
    for (const code of own) checkRestored(code, this.#getAudit(code), this.#getCounts(code));
    for (const code of CODES) {
      const last = this.#getAudit(code).last && this.#toNamedListing(code);
      this.#getNameAudit(code).restart(last, this.#getCounts(code)?.rows);
    }
  }

  /** What the exporter counts of a code, exposed or not. */
  #getCounts(code: string): Counts | undefined {
    const { store, poller } = this.#getProcess();
    const tally = poller.tallies.find(({ serviceCode }) => serviceCode === code);
    return store.get(code)?.snapshot ?? (tally?.records && tally.collectCounts());
  }

  #toPolledCode(serviceCode: string): PolledCode {
    const intervalMs = this.#intervalMs;
    const times = { intervalMs, staleAfterMs: 3 * intervalMs, stallAfterMs: 60_000 };
    const names = this.#expectedNames.get(serviceCode) ?? NAMES;
    const expectation = { tasks: names.length, names };
    return { ...TARGET, serviceCode, ...times, taskName: 'opaque', expectation };
  }

  /** The last listing of a code. */
  #toNamedListing(code: string): NamedListing {
    const { entries = [] } = this.#lastListings.get(code) ?? {};
    const { listedMs, elapsedMs } = this.#getAudit(code);
    return {
      listedMs,
      elapsedMs,
      names: new Map(entries.map(({ task: { id }, name }) => [id, name])),
      expected: this.#expectedNames.get(code) ?? NAMES,
    };
  }

  async #stop(): Promise<void> {
    const { poller, stateStore } = this.#getProcess();
    this.#disk.killAt = undefined;
    this.#disk.faults.hang = undefined;
    this.#endHang();
    await poller[Symbol.asyncDispose]();
    await stateStore[Symbol.asyncDispose]();
    this.#endProcess();
  }

  #endProcess(): void {
    this.#disk.kill();
    this.#isDiskFaulty = false;
    this.#process = undefined;
  }

  async #restart(downMs: number): Promise<void> {
    this.#note(`restart after ${Math.round(downMs / 1000)} s`);
    this.#counts.restarts += 1;
    await this.#stop();
    this.#world.advance(downMs);
    await this.#start();
  }

  async #restartWithWrongClock(): Promise<void> {
    this.#stepClock();
    await this.#restart(this.#intervalMs + this.#random.integer(HOUR_MS));
  }

  /** Set forward, it looks like a suspension to a running exporter. */
  #stepClock(): void {
    const steps = [-HOUR_MS, HOUR_MS, 7 * HOUR_MS, -24 * HOUR_MS, -this.#skewMs];
    // Further away, a step back to the right time would be longer than the state of a code is kept.
    const isFar = Math.abs(this.#skewMs) > MAX_SKEW_MS;
    const step = isFar ? -this.#skewMs : this.#random.pick(steps);
    this.#skewMs += step;
    this.#note(`clock steps by ${step / 1000} s`);
  }

  /** Suspends the machine: its monotonic clock stops, the service continues. */
  #suspend(): void {
    const suspendedMs = this.#random.integer(5 * HOUR_MS);
    this.#note(`suspended for ${Math.round(suspendedMs / 1000)} s`);
    this.#world.advance(suspendedMs);
    // Steps of waiting values go by the monotonic clock: these look fast.
    for (const task of this.#world.tasks) task.hasLeapt = true;
  }

  async #kill(why: string): Promise<void> {
    this.#note(why);
    this.#counts.kills += 1;
    this.#endProcess();
    this.#world.advance(this.#random.integer(this.#intervalMs));
    await this.#start();
  }

  async #losePower(): Promise<void> {
    const writes = 1 + this.#random.integer(3);
    this.#disk.losePower(writes);
    await this.#kill(`power loss takes back ${writes} writes`);
  }

  async #loseState(): Promise<void> {
    this.#disk.erase();
    await this.#kill('state is lost');
  }

  async #reload(codes: readonly string[]): Promise<void> {
    const { poller } = this.#getProcess();
    this.#note(`reload: ${codes.join(' ')}`);
    this.#polledCodes = codes;
    const added = codes.filter((code) => !poller.has(code));
    await poller.apply(codes.map((code) => this.#toPolledCode(code)));
    for (const code of added) {
      this.#getAudit(code).restart(this.#now);
      this.#getNameAudit(code).restore();
    }
  }

  async #reshard(count: number): Promise<void> {
    this.#note(`${count} shards`);
    this.#shardCount = count;
    if (count === 1) this.#polledCodes = CODES;
    await this.#restart(this.#intervalMs);
  }

  async #pollAll(isQuiet: boolean): Promise<void> {
    this.#world.advance(this.#intervalMs);
    this.#churn();
    const { clock, poller, client, killed } = this.#getProcess();
    clock.advance(this.#intervalMs);
    this.#note(`polls at ${(this.#world.nowMs - START_MS) / 1000} s`);
    const polls = { areOver: false };
    const polling = poller.pollOnce(new AbortController().signal).finally(() => {
      polls.areOver = true;
    });
    await nextTurn();
    const before = new Map(this.#polledCodes.map((code) => [code, this.#getState(code).snapshot]));
    for (const request of client.requests.splice(0)) {
      const { serviceCode } = request.target;
      if (!isQuiet && this.#random.chance(0.05)) void this.#failPoll(request);
      else void request.respond(this.#createBody(serviceCode, isQuiet));
    }
    const waiting = Promise.race([polling, killed]);
    for (let turns = 0; !polls.areOver && this.#disk.faults.hang !== undefined; turns += 1) {
      await nextTurn();
      if (turns > TURNS_BEFORE_TIME_PASSES) clock.advance(100);
    }
    if ((await waiting) === 'killed') return await this.#kill('killed at a write');
    for (const code of this.#polledCodes) this.#check(code, before.get(code));
  }

  /** The next listing of a code, which the process gets. */
  #createBody(code: string, isQuiet: boolean): string {
    const audit = this.#getAudit(code);
    const listing = this.#createListing(code, isQuiet);
    const users = this.#random.integer(5);
    this.#lastListings.set(code, { ...listing, users });
    audit.list(listing.entries, this.#now, this.#world.nowMs, this.#intervalMs);
    return writeListing(listing.listed, users);
  }

  #createListing(code: string, isQuiet: boolean): Listing {
    const source = this.#sources.get(code);
    if (source === undefined) throw new TypeError(`Expected a source of ${code}`);
    return source.create(this.#getAudit(code), this.#now, isQuiet, (text) => this.#note(`${code}: ${text}`));
  }

  async #failPoll(request: PendingRequest): Promise<void> {
    const code = request.target.serviceCode;
    this.#counts.failedPolls += 1;
    const kind = this.#random.pick(['timeout', 'status', 'body'] as const);
    this.#note(`${code}: poll fails, ${kind}`);
    const body = writeListing([], 1);
    this.#lastListings.delete(code);
    if (kind === 'timeout') await request.fail(new UpstreamError('timeout', 'Expected an answer'));
    else if (kind === 'status') await request.respond(body, { status: 503 });
    else await request.respond(this.#sources.get(code)?.breakBody(body) ?? '');
  }

  /** Compares what is exposed of a code with the truth. */
  #check(code: string, before: Snapshot | undefined): void {
    const state = this.#getState(code);
    const listing = this.#lastListings.get(code);
    if (listing === undefined) {
      if (state.failure === undefined || state.snapshot !== before)
        throw new SimulationError(`${code}: expected a failed poll to change nothing`);
      return;
    }
    if (state.failure !== undefined || state.snapshot === undefined)
      throw new SimulationError(`${code}: expected a good poll, found ${state.failure?.message}`);
    this.#counts.listings += 1;
    this.#counts.comparisons += checkGauges(state.snapshot, listing, listing.users);
    this.#counts.comparisons += checkNoFall(before, state.snapshot);
    this.#counts.comparisons += checkTotals(code, this.#getAudit(code), this.#getCounts(code));
    this.#counts.comparisons += checkRuns(this.#getAudit(code), state.snapshot);
    this.#counts.comparisons += this.#getNameAudit(code).list(
      this.#toNamedListing(code),
      state.snapshot.rows,
    );
  }

  #note(text: string): void {
    this.#steps.push(text);
    if (this.#steps.length > 10 * REPORTED_STEPS) this.#steps = this.#steps.slice(-REPORTED_STEPS);
  }

  /** The time of the process. */
  get #now(): Instant {
    const { clock } = this.#getProcess();
    return readInstant(clock);
  }

  #getProcess(): Process {
    if (this.#process === undefined) throw new TypeError('Expected a process');
    return this.#process;
  }

  #getState(code: string) {
    const state = this.#getProcess().store.get(code);
    if (state === undefined) throw new SimulationError(`${code}: expected a state`);
    return state;
  }

  #getNameAudit(code: string): NameAudit {
    const audit = this.#nameAudits.get(code);
    if (audit === undefined) throw new TypeError(`Expected an audit of the names of ${code}`);
    return audit;
  }

  #getAudit(code: string): Audit {
    const audit = this.#audits.get(code);
    if (audit === undefined) throw new TypeError(`Expected an audit of ${code}`);
    return audit;
  }
}
