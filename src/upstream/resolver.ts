import { lookup as lookUpAddresses, type LookupAddress, type LookupAllOptions } from 'node:dns';
import type { LookupFunction } from 'node:net';
import { LRUCache } from 'lru-cache';
import PQueue from 'p-queue';
import type { Clock } from '../runtime/clock.ts';
import { getErrorCode } from '../runtime/errors.ts';

/** A lookup that takes longer is answered from the last one, and the next one of its name waits for those of other slow names. */
const SLOW_LOOKUP_MS = 1000;

/** libuv gives lookups half of its threads, and 24 threads are set at the start: one is left to slow names. */
const MAX_FAST_LOOKUPS = 11;

/** Host names that are remembered: those of base URLs and proxies. */
const MAX_NAMES = 10_000;

/** A name server that answers so denies the name: an earlier address no longer holds. */
const DENIED_CODES: readonly (string | undefined)[] = ['ENOTFOUND', 'ENODATA'];

type Addresses = readonly LookupAddress[];

export interface ResolverOptions {
  readonly clock: Pick<Clock, 'monotonic' | 'sleep'>;
  /** Default: that of Node.js, which is the one of the system, with hosts file, search domains and IPv6. */
  readonly lookup?: (
    hostname: string,
    options: LookupAllOptions,
    callback: (error: Error | null, addresses: LookupAddress[]) => void,
  ) => void;
}

/**
 * Resolves host names for connections. A lookup cannot be cancelled and holds a thread until the name servers have answered
 * or timed out. So each name has one lookup at a time, and names whose last one was slow share a single thread.
 */
export class Resolver {
  readonly #options: Required<ResolverOptions>;
  readonly #pending = new Map<string, Promise<Addresses>>();
  readonly #lastAddresses = new LRUCache<string, Addresses>({ max: MAX_NAMES });
  readonly #slowNames = new LRUCache<string, true>({ max: MAX_NAMES });
  readonly #fastQueue = new PQueue({ concurrency: MAX_FAST_LOOKUPS });
  readonly #slowQueue = new PQueue({ concurrency: 1 });

  constructor({ clock, lookup = lookUpAddresses }: ResolverOptions) {
    this.#options = { clock, lookup };
  }

  /** As the option `lookup` of a socket. */
  readonly lookup: LookupFunction = (hostname, { all }, callback) => {
    this.#resolve(hostname).then(
      (addresses) => {
        const [{ address, family } = { address: '', family: 0 }] = addresses;
        if (all === true) callback(null, [...addresses]);
        else callback(null, address, family);
      },
      (error: unknown) => callback(error instanceof Error ? error : new Error(String(error)), '', 0),
    );
  };

  /** Looks a name up, or returns its last addresses if that takes long or the name servers do not answer. */
  async #resolve(hostname: string): Promise<Addresses> {
    const found = this.#joinLookup(hostname);
    const last = this.#lastAddresses.get(hostname);
    if (last === undefined) return await found;
    const timeout = new AbortController();
    const waitMs = this.#slowNames.has(hostname) ? 0 : SLOW_LOOKUP_MS;
    try {
      return await Promise.race([
        found.catch((error: unknown) => {
          if (DENIED_CODES.includes(getErrorCode(error))) throw error;
          return last;
        }),
        this.#options.clock.sleep(waitMs, timeout.signal).then(() => last),
      ]);
    } finally {
      timeout.abort();
    }
  }

  /** Returns the lookup of a name that is under way, or starts one. */
  #joinLookup(hostname: string): Promise<Addresses> {
    const pending = this.#pending.get(hostname);
    if (pending !== undefined) return pending;
    const queue = this.#slowNames.has(hostname) ? this.#slowQueue : this.#fastQueue;
    const started = queue
      .add(() => this.#lookUp(hostname))
      .finally(() => {
        this.#pending.delete(hostname);
      });
    this.#pending.set(hostname, started);
    return started;
  }

  async #lookUp(hostname: string): Promise<Addresses> {
    const { clock, lookup } = this.#options;
    const startedMs = clock.monotonic();
    try {
      const addresses = await new Promise<Addresses>((resolve, reject) => {
        lookup(hostname, { all: true }, (error, found) => {
          if (error === null) resolve(found);
          else reject(error);
        });
      });
      this.#lastAddresses.set(hostname, addresses);
      return addresses;
    } finally {
      if (clock.monotonic() - startedMs >= SLOW_LOOKUP_MS) this.#slowNames.set(hostname, true);
      else this.#slowNames.delete(hostname);
    }
  }
}
