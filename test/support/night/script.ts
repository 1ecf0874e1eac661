import { Random } from '../random.ts';
import {
  createQuietNight,
  INPUT_RATE,
  isLongSilent,
  NIGHT_SECONDS,
  OUTPUTS,
  type Night,
  type NightCode,
  type NightTask,
} from './truth.ts';

const MINUTE = 60;

/** What may go wrong changes the truth of a night, in which other things may go wrong too. */
class Script {
  readonly #night: Night;
  readonly #random: Random;

  constructor(night: Night, random: Random) {
    this.#night = night;
    this.#random = random;
  }

  /** A moment that leaves time for a level before it and for what follows. */
  #moment(): number {
    return 25 * MINUTE + this.#random.integer(32 * MINUTE);
  }

  /** A duration of whole seconds between two numbers of minutes. */
  #minutes(least: number, most: number): number {
    return least * MINUTE + this.#random.integer((most - least) * MINUTE);
  }

  #code(has: (code: NightCode) => boolean = () => true): NightCode {
    const codes = this.#night.codes.filter(has);
    return this.#random.pick(codes.length > 0 ? codes : this.#night.codes);
  }

  #named(): { code: NightCode; name: string; tasks: readonly NightTask[] } {
    const code = this.#code(({ names }) => names.length > 0);
    const name = code.names.length > 0 ? this.#random.pick(code.names) : 'main';
    return { code, name, tasks: this.#streams(code, name) };
  }

  /** The tasks of a name, without those that only have it. */
  #streams({ tasks }: NightCode, name: string | undefined): readonly NightTask[] {
    return tasks.filter((task) => task.name !== undefined && task.name === name && !isLongSilent(task));
  }

  #say(code: NightCode, kind: string, from: number, to = NIGHT_SECONDS, about = ''): void {
    code.incidents.push({ kind, about, from, to });
    const times = [from, Math.min(to, NIGHT_SECONDS)].map((second) => (second / MINUTE).toFixed(1));
    this.#night.script.push(
      `${code.serviceCode}: ${kind}${about && ` ${about}`} from ${times.join(' to ')} min`,
    );
  }

  #tell(text: string): void {
    this.#night.script.push(text);
  }

  /** One poll fails, whenever the process that polls has started. */
  #failPoll(code: NightCode, second: number): void {
    const { intervalSeconds: interval } = code;
    const poll = Math.ceil(second / interval) * interval;
    code.answers.set(false, poll, poll + interval);
  }

  #silence(matchers: Readonly<Record<string, string>>, from: number): void {
    this.#night.silences.push({ from: from - 2 * MINUTE, to: NIGHT_SECONDS, matchers });
  }

  streamDies(): void {
    const { code, name, tasks } = this.#named();
    const from = this.#moment();
    const to = from + this.#minutes(7, 35);
    const ends = this.#random.chance(0.5);
    for (const { isListed, inputRate } of tasks)
      if (ends) isListed.set(false, from, to);
      else inputRate.set(0, from, to);
    this.#say(code, 'stream dies', from, to, name);
    if (this.#random.chance(0.4)) this.#failPoll(code, from + this.#minutes(3, 6));
    if (this.#random.chance(0.2)) {
      const out = from + this.#minutes(3, 6);
      code.answers.set(false, out, out + this.#minutes(5, 12));
      this.#say(code, 'outage', out, out, 'while it is dead');
    }
  }

  streamFlaps(): void {
    const { code, name, tasks } = this.#named();
    const from = this.#moment();
    const to = from + this.#minutes(15, 30);
    const [up, down] = [15 + this.#random.integer(30), 30 + this.#random.integer(45)];
    for (const { isListed } of tasks)
      for (let second = from; second < to; second += up + down)
        isListed.set(false, second, Math.min(to, second + down));
    this.#say(code, 'stream flaps', from, to, `${name}, up ${up} s, down ${down} s`);
  }

  unnamedStreamFlaps(): void {
    const code = this.#code();
    const from = this.#moment();
    const to = from + this.#minutes(15, 30);
    const flapping = this.#others(code).slice(0, 3);
    code.expectedTasks.set(code.tasks.filter((task) => !isLongSilent(task)).length, 0);
    for (const { isListed } of flapping)
      for (let second = from; second < to; second += 75) isListed.set(false, second, second + 55);
    this.#say(code, 'expected streams flap', from, to, 'without names');
  }

  streamStoppedOnPurpose(): void {
    const { code, name, tasks } = this.#named();
    const from = this.#moment();
    for (const { isListed } of tasks) isListed.set(false, from);
    this.#silence(
      { alertname: 'XvsExpectedTaskDown', service_code: code.serviceCode, task_name: name },
      from,
    );
    this.#tell(
      `${code.serviceCode}: ${name} stopped on purpose and silenced at ${(from / MINUTE).toFixed(1)} min`,
    );
    const later = from + this.#minutes(5, 12);
    this.#end(this.#share(this.#others(code), 0.6), later);
    this.#say(code, 'loss of many', later);
  }

  ingestCut(): void {
    const code = this.#code();
    const from = this.#moment();
    const to = from + this.#minutes(7, 30);
    const ending = this.#random.pick([
      'at once',
      'one after another',
      'ended by the service',
      'ended for good',
    ]);
    const kept = this.#random.chance(0.25) ? 1 : 0;
    const pause = ending === 'one after another' ? 20 : 0;
    this.#cut(code, from, to, kept, pause);
    if (ending.startsWith('ended')) {
      this.#end(code.tasks.slice(kept), from + this.#minutes(4, 8), ending.endsWith('good') ? Infinity : to);
    }
    if (this.#random.chance(0.5)) code.users.set(3, from + 3 * MINUTE, to);
    const over = ending.endsWith('good') ? NIGHT_SECONDS : to + pause * code.tasks.length;
    this.#say(code, 'ingest cut', from, over, ending);
  }

  streamsStall(): void {
    const code = this.#code(({ servers }) => servers.length > 1);
    const server = this.#random.pick(code.servers);
    const from = this.#moment();
    const to = from + this.#minutes(10, 25);
    const own = this.#others(code).filter((task) => task.server === server);
    for (const { inputRate } of own.slice(0, 3 + this.#random.integer(2))) inputRate.set(0, from, to);
    this.#say(code, 'streams stall', from, to, `on ${server}`);
  }

  plannedEndAfterRecovery(): void {
    const code = this.#code(({ names }) => names.length === 0);
    const from = this.#moment();
    const to = from + this.#minutes(3, 8);
    this.#cut(code, from, to, 0, 0);
    this.#say(code, 'ingest cut', from, to, 'short');
    const end = to + this.#minutes(3, 10);
    if (this.#random.chance(0.4)) this.#plan(code, end);
    else this.#say(code, 'planned end', end);
    this.#end(this.#share(code.tasks, 0.8), end);
  }

  longSilentMajority(): void {
    const code = this.#code(({ names }) => names.length > 0);
    const real = [...code.names.flatMap((name) => this.#streams(code, name)), ...this.#others(code)];
    for (const { inputRate } of real.slice(Math.max(4, code.names.length))) inputRate.set(0, -Infinity);
    code.expectedTasks.set(code.names.length, -Infinity);
    this.#tell(
      `${code.serviceCode}: all but ${Math.max(4, code.names.length)} tasks have been silent for days`,
    );
    const from = this.#moment();
    const to = from + this.#minutes(4, 9);
    this.#cut(code, from, to, 0, 0);
    this.#say(code, 'ingest cut', from, to);
    const later = to + this.#minutes(12, 16);
    this.#end(this.#streams(code, code.names[0]), later);
    this.#say(code, 'stream dies', later, NIGHT_SECONDS, 'main');
  }

  mostVanish(): void {
    const { codes } = this.#night;
    const from = this.#moment();
    const hit = codes.slice(0, Math.floor(codes.length / 2) + 1);
    const isPlanned = this.#random.chance(0.4);
    const comesBack = !isPlanned && this.#random.chance(0.4);
    let to = comesBack ? from + this.#minutes(8, 20) : Infinity;
    for (const code of hit) {
      this.#end(code.tasks, from, to);
      code.users.set(2, from, to);
      if (isPlanned) this.#plan(code, from);
      else this.#say(code, 'loss of all', from, to, 'in most codes');
      to += this.#minutes(0, 4);
    }
    const [guest] = hit;
    if (guest && this.#random.chance(0.5)) {
      const back = from + this.#minutes(6, 14);
      guest.tasks.at(-1)?.isListed.set(true, back, back + 2 * MINUTE);
      guest.tasks.at(-1)?.inputRate.set(INPUT_RATE, back, back + 2 * MINUTE);
      this.#say(guest, 'stream comes and goes', back, back + 2 * MINUTE);
    }
    const rest = codes.filter((code) => !hit.includes(code) && code.names.length > 0);
    if (rest.length > 0) {
      const code = this.#random.pick(rest);
      const later = from + this.#minutes(3, 10);
      this.#end(this.#streams(code, code.names[0]), later);
      this.#say(code, 'stream dies', later, NIGHT_SECONDS, 'main');
    }
  }

  outage(): void {
    const hit = this.#random.chance(0.4) ? this.#night.codes : [this.#code()];
    const from = this.#moment();
    let to = from + this.#minutes(4, 22);
    const back = this.#random.pick(['whole', 'empty', 'without names', 'one after another']);
    const pause = this.#random.chance(0.5) ? 2 * MINUTE : 0;
    for (const code of hit) {
      code.answers.set(false, from, to);
      this.#say(code, 'outage', from, to, `back ${back}`);
      if (back === 'empty') {
        this.#end(code.tasks, from + MINUTE);
        this.#say(code, 'loss of all', from + MINUTE);
      } else if (back === 'without names' && code.names.length > 0) {
        this.#end(
          code.tasks.filter(({ name }) => name !== undefined),
          from + MINUTE,
        );
        this.#say(code, 'streams die', from + MINUTE);
      } else if (back === 'one after another') {
        for (const [index, { isListed }] of code.tasks.entries()) isListed.set(false, from, to + index * 10);
      }
      to += pause;
    }
  }

  serverStopsDelivering(): void {
    const code = this.#code();
    const server = this.#random.pick(code.servers);
    const from = this.#moment();
    const to = from + this.#minutes(15, 28);
    const share = this.#random.chance(0.6) ? 0 : 0.1;
    const hit = share === 0 ? [server] : code.servers;
    for (const one of hit) code.delivery.get(one)?.set(share, from, to);
    if (this.#random.chance(0.4)) code.users.set(4, from + this.#minutes(9, 14), to);
    this.#say(
      code,
      'delivery fails',
      from,
      to,
      `${hit.join(', ')} ${share === 0 ? 'deliver nothing' : 'slow'}`,
    );
  }

  /**
   * While a server of a code delivers nothing, until most viewers leave, those of another code leave or
   * receive less.
   */
  deliveryFailsElsewhere(): void {
    const code = this.#code(({ intervalSeconds }) => intervalSeconds <= 60);
    const other = this.#code((one) => one !== code && one.intervalSeconds <= 60);
    const server = this.#random.pick(code.servers);
    const from = this.#moment();
    const to = from + this.#minutes(20, 28);
    code.delivery.get(server)?.set(0, from, to);
    code.users.set(4, from + 12 * MINUTE, to);
    this.#say(code, 'delivery fails', from, to, `${server} delivers nothing, viewers leave`);
    const later = from + this.#minutes(2, 10);
    const leave = this.#random.chance(0.5);
    if (leave) other.users.set(0, later, to);
    else for (const share of other.delivery.values()) share.set(0.1, later, to);
    this.#say(other, leave ? 'users leave' : 'delivery fails', later, to, 'elsewhere');
  }

  usersLeave(): void {
    const code = this.#code();
    const from = this.#moment();
    code.users.set(this.#random.pick([0, 5]), from);
    this.#say(code, 'users leave', from);
  }

  evening(): void {
    const code = this.#random.chance(0.5)
      ? this.#code(({ tasks }) => tasks.filter(isLongSilent).length >= 3)
      : this.#code();
    const from = this.#moment() - 5 * MINUTE;
    const pause = 80 + this.#random.integer(70);
    const named = this.#streams(code, code.names[0]);
    code.expectedTasks.set(code.names.length, -Infinity);
    for (const [index, task] of this.#others(code).entries()) this.#end([task], from + index * pause);
    this.#say(code, 'evening', from);
    if (this.#random.chance(0.6) && named.length > 0) {
      const later = from + this.#minutes(10, 25);
      this.#end(named, later);
      this.#say(code, 'stream dies', later, NIGHT_SECONDS, 'main');
    }
  }

  failedPolls(): void {
    for (const code of this.#night.codes)
      for (let count = this.#random.integer(6); count >= 0; count -= 1) this.#failPoll(code, this.#moment());
    this.#tell('single polls fail');
  }

  everyFourthPollFails(): void {
    const { code, name, tasks } = this.#named();
    const from = this.#moment();
    const first = Math.ceil((from - 8 * MINUTE) / code.intervalSeconds) * code.intervalSeconds;
    for (let poll = first; poll < NIGHT_SECONDS; poll += code.intervalSeconds * 4)
      code.answers.set(false, poll, poll + code.intervalSeconds);
    this.#tell(`${code.serviceCode}: every fourth poll fails from ${(first / MINUTE).toFixed(1)} min`);
    const other = this.#code((one) => one !== code);
    if (other !== code && this.#random.chance(0.5)) {
      other.answers.set(false, from - 5 * MINUTE, from + 12 * MINUTE);
      this.#say(other, 'outage', from - 5 * MINUTE, from + 12 * MINUTE, 'elsewhere');
    }
    const to = from + this.#minutes(10, 20);
    for (const { isListed } of tasks) isListed.set(false, from, to);
    this.#say(code, 'stream dies', from, to, name);
  }

  exporterRestarts(): void {
    const from = this.#moment();
    for (const [index, { isUp }] of this.#night.replicas.entries())
      isUp.set(false, from + index * 90, from + index * 90 + 10 + this.#random.integer(50));
    const [first] = this.#night.replicas;
    this.#tell(
      `exporters restart with${first?.hasState === true ? '' : 'out'} state at ${(from / MINUTE).toFixed(1)} min`,
    );
  }

  exporterFails(): void {
    const from = this.#moment();
    const to = from + this.#minutes(8, 20);
    for (const { isUp } of this.#night.replicas) isUp.set(false, from, to);
    this.#tell(`no exporter runs from ${[from, to].map((at) => (at / MINUTE).toFixed(1)).join(' to ')} min`);
  }

  serverLeaves(): void {
    const code = this.#code(({ servers }) => servers.length > 1);
    const count = code.servers.length > 2 && this.#random.chance(0.5) ? 2 : 1;
    const from = this.#moment();
    let to = from + this.#minutes(10, 30);
    for (const server of code.servers.slice(-count)) {
      this.#end(
        code.tasks.filter((task) => task.server === server),
        from,
        to,
      );
      this.#say(code, 'server leaves', from, to, server);
      to += this.#minutes(3, 8);
    }
  }

  outputsMissing(): void {
    const { code, name, tasks } = this.#named();
    const from = this.#moment();
    const to = from + this.#minutes(8, 25);
    // Rarer polls may not see it.
    const flaps = code.intervalSeconds <= 15 && this.#random.chance(0.7);
    for (const { outputs } of tasks)
      for (let second = from; second < to; second += flaps ? 60 : to - from)
        outputs.set(OUTPUTS - 1, second, Math.min(to, second + (flaps ? 40 : to - from)));
    this.#say(code, 'output missing', from, to, `${name}${flaps ? ', comes and goes' : ''}`);
  }

  streamSlows(): void {
    const { code, name, tasks } = this.#named();
    const from = this.#moment();
    const to = from + this.#minutes(9, 25);
    for (const { inputRate } of tasks) inputRate.set(INPUT_RATE / 4, from, to);
    this.#say(code, 'stream slows', from, to, name);
  }

  streamsDieOneAfterAnother(): void {
    this.#oneAfterAnother('streams die', ({ isListed }, from, to) => isListed.set(false, from, to));
  }

  streamsSlowOneAfterAnother(): void {
    this.#oneAfterAnother('streams slow', ({ inputRate }, from, to) =>
      inputRate.set(INPUT_RATE / 4, from, to),
    );
  }

  outputsMissingOneAfterAnother(): void {
    this.#oneAfterAnother('outputs missing', ({ outputs }, from, to) => outputs.set(OUTPUTS - 1, from, to));
  }

  /** All expected streams of a code change within some minutes, and recover within some minutes. */
  #oneAfterAnother(kind: string, change: (task: NightTask, from: number, to: number) => void): void {
    const code = this.#code(({ names }) => names.length > 1);
    const first = this.#moment();
    let [from, to] = [first, first + this.#minutes(12, 22)];
    for (const name of code.names) {
      for (const task of this.#streams(code, name)) change(task, from, to);
      from += this.#minutes(0, 5);
      to += this.#minutes(1, 6);
    }
    this.#say(code, kind, first, to, 'one after another');
  }

  codesRemoved(): void {
    const { codes } = this.#night;
    const from = this.#moment();
    const removed = codes.slice(Math.ceil(codes.length / 2) - 1);
    for (const { isConfigured } of removed) isConfigured.set(false, from);
    this.#tell(`${removed.length} of ${codes.length} codes removed at ${(from / MINUTE).toFixed(1)} min`);
  }

  /** Something happens to another code minutes after an incident: no alert on the first one explains it. */
  addIncidentElsewhere(): void {
    const { codes } = this.#night;
    const known = codes.flatMap((code) => code.incidents.map(({ from }) => ({ code, from })));
    if (known.length === 0) return;
    const first = this.#random.pick(known);
    const others = codes.filter((code) => code !== first.code && code.incidents.length === 0);
    if (others.length === 0) return;
    const code = this.#random.pick(others);
    const from = first.from + this.#minutes(2, 10);
    const to = from + this.#minutes(16, 25);
    const named = this.#streams(code, code.names[0]);
    const kinds = [
      'users leave',
      'delivery fails',
      ...(named.length > 0 ? ['stream dies', 'stream slows'] : []),
    ];
    const kind = this.#random.pick(kinds);
    if (kind === 'users leave') code.users.set(0, from, to);
    else if (kind === 'delivery fails') for (const share of code.delivery.values()) share.set(0.1, from, to);
    else if (kind === 'stream dies') this.#end(named, from, to);
    else for (const { inputRate } of named) inputRate.set(INPUT_RATE / 4, from, to);
    this.#say(code, kind, from, to, 'elsewhere');
  }

  #others({ tasks }: NightCode): readonly NightTask[] {
    return tasks.filter((task) => task.name === undefined && !isLongSilent(task));
  }

  #share(tasks: readonly NightTask[], share: number): readonly NightTask[] {
    return tasks.slice(0, Math.ceil(tasks.length * share));
  }

  #end(tasks: readonly NightTask[], from: number, to = Infinity): void {
    for (const { isListed } of tasks) isListed.set(false, from, to);
  }

  /** Nothing arrives at the tasks but the first ones; they recover one after another with a pause. */
  #cut({ tasks }: NightCode, from: number, to: number, keptCount: number, pauseSeconds: number): void {
    for (const [index, { inputRate }] of tasks.entries())
      if (index >= keptCount) inputRate.set(0, from, to + index * pauseSeconds);
    for (const { inputRate } of tasks.filter(isLongSilent)) inputRate.set(0, from);
  }

  /** The end of the streams of a code is planned, and silenced as the documentation says. */
  #plan(code: NightCode, from: number): void {
    this.#silence({ service_code: code.serviceCode }, from);
    this.#say(code, 'planned end', from, NIGHT_SECONDS, 'silenced');
  }
}

type Kind = Exclude<keyof Script, 'addIncidentElsewhere'>;

const KINDS: readonly Kind[] = Object.getOwnPropertyNames(Script.prototype).filter(
  (name): name is Kind => !['constructor', 'addIncidentElsewhere'].includes(name),
);

/**
 * Imagines a night in which two to four things go wrong, and perhaps another one elsewhere. Consecutive seeds
 * begin with each kind in turn.
 */
export function imagineNight(seed: number): Night {
  const random = new Random(seed);
  const night = createQuietNight(seed, random);
  const script = new Script(night, random);
  script[KINDS[seed % KINDS.length] ?? random.pick(KINDS)]();
  for (let count = 1 + random.integer(3); count > 0; count -= 1) script[random.pick(KINDS)]();
  if (random.chance(0.8)) script.addIncidentElsewhere();
  return night;
}
