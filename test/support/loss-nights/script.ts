import { Timeline } from '../night/timeline.ts';
import { Random } from '../random.ts';
import { createStream, EXPECTED_NAME, STEP_SECONDS, type Service, type Stream } from './service.ts';

const MINUTE = 60;
const INTERVALS = [5, 10, 15, 15, 15, 30, 60, 60, 120, 240, 600];

export interface LossNight {
  readonly seed: number;
  readonly seconds: number;
  readonly intervalSeconds: number;
  readonly service: Service;
  readonly servers: readonly string[];
  /** Whether the exporter runs. */
  readonly isUp: Timeline<boolean>;
  readonly hasState: boolean;
  /** What happens, in words. */
  readonly script: string[];
}

/** Writes what happens in a night of one service code. */
class Script {
  readonly #night: LossNight;
  readonly #random: Random;
  /** Streams that flow when the night begins. */
  readonly #streams: readonly Stream[];
  /** Rare polls have longer nights. */
  readonly #pace: number;

  constructor(night: LossNight, random: Random) {
    this.#night = night;
    this.#random = random;
    this.#streams = night.service.streams.filter(({ hasInput, isFile }) => hasInput.at(0) && !isFile);
    this.#pace = night.seconds / (150 * MINUTE);
  }

  /** A cut of the ingest. The service may end the streams that are silent, for good or for a while. */
  cut(): void {
    const { from, to } = this.#span(3, 90);
    const kept = this.#random.integer(Math.ceil(this.#streams.length / 3));
    const silent = this.#streams.slice(kept);
    for (const { hasInput } of silent) hasInput.set(false, from, to);
    const ending = this.#random.pick(['stay listed', 'stay listed', 'end until then', 'end for good']);
    const end = from + this.#duration(3, 20);
    if (ending.startsWith('end'))
      for (const { runs } of silent) runs.set(false, end, ending === 'end for good' ? Infinity : to);
    this.#say(`all but ${kept} streams are silent from ${from} to ${to}, and ${ending} (${end})`);
  }

  silentOneByOne(): void {
    const { from, to } = this.#span(20, 90);
    const [count, pause] = [1 + this.#random.integer(2), 10 * (1 + this.#random.integer(12))];
    for (const [index, { hasInput }] of this.#streams.entries())
      hasInput.set(false, from + Math.floor(index / count) * pause, to + index * 5);
    this.#say(`streams fall silent from ${from} to ${to}, ${count} every ${pause} s`);
  }

  /** Some return, the others end, and then those that returned fall silent again. */
  silentTwice(): void {
    const { from } = this.#span(3, 4);
    const [back, ended, again] = [6, 12, 20].map((minute) => from + minute * MINUTE * this.#pace);
    const returning = 4 + this.#random.integer(5);
    for (const [index, { hasInput, runs }] of this.#streams.entries()) {
      hasInput.set(false, from, index < returning ? back : Infinity);
      if (index < returning) hasInput.set(false, again ?? 0);
      else runs.set(false, ended ?? 0);
    }
    this.#say(
      `all are silent from ${from}, ${returning} until ${back}, the others end at ${ended}, all again at ${again}`,
    );
  }

  restartLoop(): void {
    const { from, to } = this.#span(8, 40);
    const every = 20 + 5 * this.#random.integer(7);
    for (const { hasInput, restartSeconds } of this.#streams) {
      hasInput.set(false, from, to);
      restartSeconds.set(every, from, to);
    }
    this.#say(`all streams restart every ${every} s without input from ${from} to ${to}`);
  }

  /** Streams wait for their publishers, from long before others end or a short time before. */
  eventStart(): void {
    const { from } = this.#span(3, 4);
    const start = from + this.#duration(1, 35);
    const count = 3 + this.#random.integer(6);
    for (let index = 0; index < count; index += 1) {
      const stream = createStream(this.#random.pick(this.#night.servers));
      stream.runs.set(false, -Infinity, from);
      stream.hasInput.set(false, -Infinity, start);
      this.#night.service.streams.push(stream);
    }
    const ending = this.#random.integer(6);
    const end = from + this.#random.integer(2 * MINUTE);
    for (const { runs } of this.#streams.slice(0, ending)) runs.set(false, toStep(end));
    this.#say(`${count} streams wait from ${from} to ${start}, ${ending} others end at ${toStep(end)}`);
  }

  loss(): void {
    const { from, to } = this.#span(1, 90);
    const isForGood = this.#random.chance(0.5);
    const count = Math.ceil(this.#streams.length * (0.3 + 0.7 * this.#random.next()));
    const pause = this.#random.chance(0.4) ? 10 * this.#random.integer(4) : 0;
    for (const [index, { runs }] of this.#streams.slice(0, count).entries())
      runs.set(false, from, isForGood ? Infinity : to + index * pause);
    this.#say(`${count} streams end at ${from}${isForGood ? '' : `, back at ${to}, one every ${pause} s`}`);
  }

  evening(): void {
    const { from } = this.#span(3, 4);
    const pause = 30 + 5 * this.#random.integer(25);
    for (const [index, { runs }] of this.#streams.entries()) runs.set(false, from + index * pause);
    this.#say(`streams end one every ${pause} s from ${from}`);
  }

  plannedEndAfterCut(): void {
    const { from } = this.#span(3, 4);
    const to = from + this.#duration(2, 5);
    const end = to + this.#duration(5, 12);
    for (const { hasInput } of this.#streams) hasInput.set(false, from, to);
    const ending = this.#streams.slice(0, Math.ceil(this.#streams.length * 0.7));
    for (const { runs } of ending) runs.set(false, end);
    this.#say(`all streams are silent from ${from} to ${to}, ${ending.length} end at ${end}`);
  }

  /** One listing has more than those around it. */
  extraListing(): void {
    const at = this.#poll();
    const most = this.#streams.slice(Math.floor(this.#streams.length * 0.4));
    for (const { isHidden } of most) {
      isHidden.set(true, -Infinity, at);
      isHidden.set(true, at + this.#night.intervalSeconds);
    }
    this.#say(`${most.length} streams are listed only at ${at}`);
  }

  partialListing(): void {
    const at = this.#poll();
    const to = at + this.#night.intervalSeconds * (1 + this.#random.integer(3));
    const server = this.#random.pick([...this.#night.servers, 'all servers']);
    for (const { isHidden } of this.#streamsOf(server)) isHidden.set(true, at, to);
    this.#say(`the tasks of ${server} are not listed from ${at} to ${to}, and go on`);
  }

  serverLeaves(): void {
    const server = this.#random.pick(this.#night.servers);
    const { from, to } = this.#span(2, 80);
    const own = this.#streamsOf(server);
    // It may die over two or three listings.
    const pause = this.#random.chance(0.5) ? 0 : this.#night.intervalSeconds;
    const first = this.#random.integer(own.length);
    for (const [index, { runs }] of own.entries()) runs.set(false, index < first ? from : from + pause, to);
    this.#say(`${server} leaves from ${from} to ${to}, ${first} of ${own.length} tasks ${pause} s earlier`);
  }

  drain(): void {
    const server = this.#random.pick(this.#night.servers);
    const { from } = this.#span(3, 4);
    const pause = 30 + 5 * this.#random.integer(20);
    for (const [index, { runs }] of this.#streamsOf(server).entries()) runs.set(false, from + index * pause);
    this.#say(`${server} is drained from ${from}, one task every ${pause} s`);
  }

  /** The tasks of a server go on elsewhere: under their ids, or as new ones after a while. */
  takeover(): void {
    const server = this.#random.pick(this.#night.servers);
    const other = this.#random.pick(this.#night.servers);
    const { from, to } = this.#span(10, 60);
    const pause = this.#random.pick([0, 0, 20, 45, 90, 150]);
    for (const stream of this.#streamsOf(server)) {
      stream.server.set(other, from, to);
      if (pause > 0) stream.runs.set(false, from, toStep(from + pause));
    }
    this.#say(`${other} takes over ${server} from ${from} to ${to}, ${pause} s later`);
  }

  usersLeave(): void {
    const { from, to } = this.#span(1, 80);
    const { users } = this.#night.service;
    const before = users.at(from);
    const count = this.#random.integer(30);
    users.set(count, from, to);
    if (this.#random.chance(0.4)) {
      // Half of them comes back, and some of those leave again.
      const back = from + this.#duration(2, 10);
      users.set(Math.ceil(before / 2), back, to);
      users.set(Math.floor(before / 5), back + this.#duration(1, 4), to);
    }
    this.#say(`users leave from ${from} to ${to}: ${before}, ${count}`);
  }

  /** Viewers of a server receive nothing. */
  deliveryStops(): void {
    const { servers, service } = this.#night;
    const { from, to } = this.#span(3, 80);
    const dead = servers.filter(() => this.#random.chance(0.6));
    for (const server of dead) service.delivers.get(server)?.set(false, from, to);
    const [leave, least] = [from + this.#duration(0, 20), this.#random.integer(5)];
    const isPulsing = this.#random.chance(0.4);
    for (const server of this.#random.chance(0.6) ? dead : [])
      for (const [index, { viewers }] of this.#streamsOf(server).entries())
        for (let second = leave; second < to; second += isPulsing ? 60 : to - leave)
          viewers.set(index === 0 ? least : 0, second, isPulsing ? second + 30 : to);
    this.#say(
      `${dead.join(', ')} deliver nothing from ${from} to ${to}, ${least} viewers each from ${leave}`,
    );
  }

  /** The input of streams that are watched dies, while others of their servers flow. */
  watchedInputDies(): void {
    const { from, to } = this.#span(5, 40);
    const watched = this.#streams.filter(({ viewers }) => viewers.at(from) > 0);
    for (const { hasInput } of watched) hasInput.set(false, from, to);
    this.#say(`the ${watched.length} watched streams are silent from ${from} to ${to}`);
  }

  outage(): void {
    const { from, to } = this.#span(1, 40);
    this.#night.service.answers.set(false, from, to);
    const meanwhile = this.#random.pick(['nothing', 'nothing', 'all end', 'all fall silent', 'one by one']);
    const back = to + this.#duration(2, 60);
    for (const [index, { runs, hasInput }] of this.#streams.entries()) {
      if (meanwhile === 'all end') runs.set(false, from + MINUTE, back);
      if (meanwhile === 'one by one') runs.set(false, from + index * 45, back);
      if (meanwhile === 'all fall silent') hasInput.set(false, from, back);
    }
    this.#say(`polls fail from ${from} to ${to}, meanwhile ${meanwhile}, until ${back}`);
  }

  failedPolls(): void {
    for (let count = 8; count > 0; count -= 1) {
      const poll = this.#poll();
      this.#night.service.answers.set(false, poll, poll + this.#night.intervalSeconds);
    }
    this.#say('single polls fail');
  }

  /** A front end answers with listings of before. */
  olderAnswers(): void {
    const { intervalSeconds: interval, service } = this.#night;
    for (let count = 8; count > 0; count -= 1) {
      const poll = this.#poll();
      service.answerAge.set(1 + this.#random.integer(2), poll, poll + interval);
    }
    this.#say('single answers are those of before');
  }

  /** Each answer is given twice. */
  cachedAnswers(): void {
    const { intervalSeconds: interval, service } = this.#night;
    const from = this.#poll();
    for (let poll = from; poll < from + 40 * interval; poll += 2 * interval)
      service.answerAge.set(1, poll, poll + interval);
    this.#say(`each answer is given twice from ${from}`);
  }

  countsBeginAgain(): void {
    const { from } = this.#span(3, 4);
    const share = this.#random.pick([1, 0.5, 0.1]);
    for (const { resets } of this.#streams.slice(0, Math.ceil(this.#streams.length * share)))
      resets.push(from);
    this.#say(`the counts of ${share * 100} % of the tasks begin again at ${from}`);
  }

  /** Publishers connect again: the run ends, and another begins under the same id. */
  reconnect(): void {
    const { from } = this.#span(3, 4);
    const pause = this.#random.pick([5, 10, 60, 300]);
    for (const { runs, reusesId } of this.#streams) {
      if (this.#random.chance(0.5)) continue;
      reusesId.set(true, from, from + pause + MINUTE);
      runs.set(false, from, from + pause);
    }
    this.#say(`half of the streams end at ${from}, and begin again under their ids ${pause} s later`);
  }

  /** Hundreds of streams that run for seconds or minutes. */
  churn(): void {
    const { seconds, service, servers, intervalSeconds } = this.#night;
    const length = this.#random.pick([20, 60, 300, 600]) + Math.floor(intervalSeconds / 10) * 5;
    const count = Math.min(300, 20 + this.#random.integer(20) * Math.ceil(seconds / length / 4));
    for (let index = 0; index < count; index += 1) {
      const from = toStep(this.#random.integer(seconds));
      const stream = createStream(this.#random.pick(servers));
      stream.runs.set(false, -Infinity);
      stream.runs.set(true, from, from + toStep(length / 2 + this.#random.integer(length)));
      service.streams.push(stream);
    }
    this.#say(`${count} streams run for about ${length} s each`);
  }

  restart(): void {
    const { from } = this.#span(3, 4);
    const to = from + 10 + 5 * this.#random.integer(this.#random.chance(0.7) ? 12 : 120);
    this.#night.isUp.set(false, from, to);
    this.#say(`restart from ${from} to ${to}`);
  }

  #say(text: string): void {
    this.#night.script.push(text);
  }

  #span(least: number, most: number): { readonly from: number; readonly to: number } {
    const from = toStep((25 + this.#random.integer(80)) * MINUTE * this.#pace);
    return { from, to: from + this.#duration(least, most) };
  }

  #duration(leastMinutes: number, mostMinutes: number): number {
    const minutes = leastMinutes + this.#random.next() * (mostMinutes - leastMinutes);
    return toStep(minutes * MINUTE * this.#pace);
  }

  #poll(): number {
    const { intervalSeconds: interval } = this.#night;
    return Math.ceil(this.#span(3, 4).from / interval) * interval;
  }

  #streamsOf(server: string): readonly Stream[] {
    const isAll = server === 'all servers';
    return this.#night.service.streams.filter((stream) => isAll || stream.server.at(0) === server);
  }
}

const toStep = (seconds: number): number => Math.ceil(seconds / STEP_SECONDS) * STEP_SECONDS;

type Kind = keyof Script;

const KINDS = Object.getOwnPropertyNames(Script.prototype).filter(
  (name): name is Kind => name !== 'constructor',
);

/** Imagines a night in which one to three things happen; consecutive seeds begin with each kind in turn. */
export function imagineLosses(seed: number): LossNight {
  const random = new Random(seed);
  const night = createQuietNight(seed, random);
  const script = new Script(night, random);
  script[KINDS[seed % KINDS.length] ?? random.pick(KINDS)]();
  for (let count = random.integer(3); count > 0; count -= 1) script[random.pick(KINDS)]();
  return night;
}

function createQuietNight(seed: number, random: Random): LossNight {
  const servers = ['s1', 's2', 's3', 's4'].slice(0, 1 + random.integer(4));
  const intervalSeconds = random.pick(INTERVALS);
  const create = (fields: Partial<Stream>): Stream => createStream(random.pick(servers), fields);
  const watched = random.pick([1, 1, 0.3]);
  const flowing = Array.from({ length: 1 + random.integer(30) }, (_, index) =>
    create({
      name: index === 0 ? EXPECTED_NAME : undefined,
      viewers: new Timeline(random.chance(watched) ? random.integer(12) : 0),
    }),
  );
  const [silent, waiting, files] = [random.integer(20), random.integer(8), random.integer(3)].map((count) =>
    random.chance(0.25) ? count : 0,
  );
  const others = [
    ...Array.from({ length: silent ?? 0 }, () => create({ hasInput: new Timeline(false) })),
    ...Array.from({ length: waiting ?? 0 }, () => create({ hasInput: new Timeline(false) })),
    ...Array.from({ length: files ?? 0 }, () => create({ isFile: true })),
  ];
  // Those that are silent for long have had input.
  for (const { hasInput } of others.slice(0, silent)) hasInput.set(true, -Infinity, -1800);
  const hasState = random.chance(0.5);
  return {
    seed,
    seconds: 150 * MINUTE * (intervalSeconds > 120 ? 4 : 1),
    intervalSeconds,
    service: {
      streams: [...flowing, ...others],
      users: new Timeline(random.integer(400)),
      delivers: new Map(servers.map((server) => [server, new Timeline(true)])),
      answers: new Timeline(true),
      answerAge: new Timeline(0),
    },
    servers,
    isUp: new Timeline(true),
    hasState,
    script: [
      `every ${intervalSeconds} s, with${hasState ? '' : 'out'} state, ${servers.length} servers, ` +
        `${flowing.length} streams, ${silent} long silent, ${waiting} waiting, ${files} files`,
    ],
  };
}
