import type { IncomingMessage, RequestListener, ServerResponse } from 'node:http';
import type { TestContext } from 'node:test';
import { readIdentity } from '../../support/fixtures.ts';
import { Random } from '../../support/random.ts';
import { serveHttp, serveHttps } from '../../support/servers.ts';

/** The bytes that a task receives between two listings: 4 Mbit/s if they are a second apart. */
const GROWTH_BYTES = 500_000;
/** What a slow task receives: 160 kbit/s. */
const SLOW_GROWTH_BYTES = 20_000;
/** Two of ten tasks have names that are expected. Their servers run three and seven tasks. */
const NAMES = ['main', 'backup', ...Array.from({ length: 8 }, (_, index) => `task-${index}`)];
const SERVERS = ['s1', 's2', 's1', 's1', 's2', 's2', 's2', 's2', 's2', 's2'];
/** A code has at least so many users, and fewer than the sum of both. */
const MIN_USERS = 25;
const MORE_USERS = 10;
/**
 * After so many listings another task takes the place of one without a name. Most have always lived for a
 * minute.
 */
const LISTINGS_PER_REPLACEMENT = 45;
/** A flapping task is in one of so many listings. */
const LISTINGS_PER_FLAP = 5;

/** What the service does with the requests for a service code. */
export interface Fault {
  /** Closes the connection. */
  readonly isRefused?: boolean;
  /** Rejects the request. */
  readonly ret?: number;
  /** How far the `Date` of a response is behind. */
  readonly clockOffsetMs?: number;
  /** Sends so much white space. */
  readonly bytes?: number;
  /** The listing has nothing. */
  readonly isEmpty?: boolean;
  /** Tasks that are not listed. */
  readonly gone?: readonly string[];
  /** Tasks that receive and deliver nothing. */
  readonly silent?: readonly string[];
  /** Tasks that receive little. */
  readonly slow?: readonly string[];
  /** Tasks that come and go. */
  readonly flapping?: readonly string[];
  /** Tasks that receive, and deliver nothing to viewers. */
  readonly undelivered?: readonly string[];
  /** The number of users. */
  readonly users?: number;
}

/** All tasks of a service code. */
export const ALL_TASKS: readonly string[] = NAMES;

/**
 * A service code whose users come and go, whose tasks are replaced, and whose outputs change, from listing to
 * listing.
 */
class CodeWorld {
  readonly #code: string;
  readonly #random: Random;
  readonly #generations = new Map<string, number>();
  readonly #inputBytes = new Map<string, number>();
  readonly #outputBytes = new Map<string, number>();
  #listings = 0;
  #users = MIN_USERS;
  #fault: Fault = {};
  #faultListings = 0;
  /** The next requests that get no response. */
  failures = 0;
  /** When `main` was last in a listing with input, in milliseconds since the Unix epoch. */
  mainListedMs = 0;

  constructor(code: string, seed: number) {
    this.#code = code;
    this.#random = new Random([...code].reduce((sum, letter) => 31 * sum + letter.charCodeAt(0), seed));
  }

  get fault(): Fault {
    return this.#fault;
  }

  set fault(fault: Fault) {
    this.#fault = fault;
    this.#faultListings = 0;
  }

  list(): object {
    const { ret = 0, isEmpty = false } = this.#fault;
    if (ret !== 0 || isEmpty) return { ret, user_list: [], task_list: [] };
    this.#listings += 1;
    this.#faultListings += 1;
    this.#change();
    const users = Array.from({ length: this.#fault.users ?? this.#users }, () => ({
      vs_id: this.#random.pick(['s1', 's2']),
      client_version: '1',
      device_type: '1',
    }));
    const listed = NAMES.filter((name) => this.#isListed(name));
    if (listed.includes('main') && !this.#fault.silent?.includes('main')) this.mainListedMs = Date.now();
    return { ret, user_list: users, task_list: listed.map((name) => this.#listTask(name)) };
  }

  #change(): void {
    const users = this.#users + this.#random.integer(5) - 2;
    this.#users = Math.min(MIN_USERS + MORE_USERS, Math.max(MIN_USERS, users));
    if (this.#listings % LISTINGS_PER_REPLACEMENT !== 0) return;
    // In turn, so that each lives as long.
    const name = `task-${(this.#listings / LISTINGS_PER_REPLACEMENT) % 8}`;
    this.#generations.set(name, (this.#generations.get(name) ?? 0) + 1);
  }

  #isListed(name: string): boolean {
    const { gone = [], flapping = [] } = this.#fault;
    if (gone.includes(name)) return false;
    return !flapping.includes(name) || this.#faultListings % LISTINGS_PER_FLAP === 0;
  }

  #listTask(name: string): object {
    const { silent = [], slow = [], undelivered = [] } = this.#fault;
    const id = `${this.#code}-${name}-${this.#generations.get(name) ?? 0}`;
    const growth = silent.includes(name) ? 0 : slow.includes(name) ? SLOW_GROWTH_BYTES : GROWTH_BYTES;
    const inputBytes = increase(this.#inputBytes, id, growth);
    const listOutput = (fileName: string): object => ({
      format: 'flv',
      file_name: fileName,
      http_output_bytes: increase(
        this.#outputBytes,
        `${id} ${fileName}`,
        undelivered.includes(name) ? 0 : growth,
      ),
      http_connections_num: 2 + this.#random.integer(2),
      streams: [],
    });
    // Expected tasks have as many outputs as always.
    const isDoubled = name.startsWith('task-') && this.#random.chance(0.5);
    return {
      id,
      vs_id: SERVERS[NAMES.indexOf(name)],
      progress: 0,
      opaque: encodeURIComponent(JSON.stringify({ room: name })),
      input_bytes: inputBytes,
      inputs: [],
      outputs: [name, ...(isDoubled ? [`${name}-small`] : [])].map(listOutput),
    };
  }
}

function increase(totals: Map<string, number>, key: string, by: number): number {
  const total = (totals.get(key) ?? 0) + by;
  totals.set(key, total);
  return total;
}

/** A service whose codes change by themselves, and with the fault that is set for them. */
export class IncidentService {
  readonly #worlds = new Map<string, CodeWorld>();
  readonly #seed = Number(process.env['XVS_TEST_SEED'] ?? 1);
  url = '';
  /** A URL whose certificate has expired. */
  urlWithExpiredCertificate = '';

  /** Serves until the end of the test. */
  static async start(t: TestContext): Promise<IncidentService> {
    const service = new IncidentService();
    const respond: RequestListener = (request, response) => service.#respond(request, response);
    service.url = await serveHttp(t, respond);
    const url = await serveHttps(t, readIdentity('expired'), respond);
    service.urlWithExpiredCertificate = url.replace('127.0.0.1', 'localhost');
    return service;
  }

  /** Sets the fault of service codes, or clears it. */
  setFault(codes: readonly string[], fault: Fault = {}): void {
    for (const code of codes) this.worldOf(code).fault = fault;
  }

  worldOf(code: string): CodeWorld {
    const world = this.#worlds.get(code) ?? new CodeWorld(code, this.#seed);
    this.#worlds.set(code, world);
    return world;
  }

  #respond(request: IncomingMessage, response: ServerResponse): void {
    const code = new URL(request.url ?? '', 'http://service').searchParams.get('service_code') ?? '';
    const world = this.worldOf(code);
    const { isRefused = false, clockOffsetMs = 0, bytes } = world.fault;
    if (isRefused || world.failures > 0) {
      if (!isRefused) world.failures -= 1;
      request.socket.destroy();
      return;
    }
    response.setHeader('date', new Date(Date.now() - clockOffsetMs).toUTCString());
    if (bytes !== undefined) response.end(' '.repeat(bytes));
    else response.end(JSON.stringify(world.list()));
  }
}
