import { lookup as lookUpAddresses, type LookupAddress, type LookupAllOptions } from 'node:dns';
import { isIP, type LookupFunction } from 'node:net';
import { LRUCache } from 'lru-cache';
import PQueue from 'p-queue';
import type { Clock } from '../runtime/clock.ts';
import { getErrorCode } from '../runtime/errors.ts';

/** A slower lookup is answered from the last one; the next one of its name waits for other slow names. */
const SLOW_LOOKUP_MS = 1000;

/** Host names that are remembered: those of base URLs and proxies. */
const MAX_NAMES = 10_000;

/** A name server that answers so denies the name: an earlier address no longer holds. */
const DENIED_CODES: readonly (string | undefined)[] = ['ENOTFOUND', 'ENODATA'];

/** How long an address that failed is tried after the others. */
const FAILED_MS = 60_000;

type Addresses = LookupAddress[];

type Lookup = (
  hostname: string,
  options: LookupAllOptions,
  callback: (error: Error | null, addresses: Addresses) => void,
) => void;

export interface ResolverOptions {
  readonly clock: Pick<Clock, 'monotonic' | 'sleep'>;
  /** Default: that of Node.js, which is the one of the system, with hosts file, search domains and IPv6. */
  readonly lookup?: Lookup | undefined;
}

/**
 * Resolves host names. A lookup cannot be cancelled and holds a thread until name servers answer or time out.
 * So each name has one lookup at a time, and names whose last one was slow share a single thread.
 */
export class Resolver {
  readonly #clock: ResolverOptions['clock'];
  readonly #lookUpInSystem: Lookup;
  /** The last addresses of a name, or the error of a name server that denies it. */
  readonly #results: LRUCache<string, Addresses | Error>;
  readonly #connectedAddresses = new LRUCache<string, string>({ max: MAX_NAMES });
  /** When an address of a name failed last, by both. */
  readonly #failuresMs: LRUCache<string, number>;
  readonly #slowNames = new LRUCache<string, true>({ max: MAX_NAMES });
  readonly #slowQueue = new PQueue({ concurrency: 1 });

  constructor({ clock, lookup = lookUpAddresses }: ResolverOptions) {
    this.#clock = clock;
    this.#lookUpInSystem = lookup;
    this.#failuresMs = new LRUCache<string, number>({
      max: MAX_NAMES,
      ttl: FAILED_MS,
      ttlResolution: 0,
      perf: { now: () => clock.monotonic() },
    });
    this.#results = new LRUCache<string, Addresses | Error>({
      max: MAX_NAMES,
      ignoreFetchAbort: true,
      allowStaleOnFetchAbort: true,
      fetchMethod: async (hostname, last) => {
        const find = () => this.#lookUp(hostname, last);
        return this.#slowNames.has(hostname) ? await this.#slowQueue.add(find) : await find();
      },
    });
  }

  /** As the option `lookup` of a socket: the addresses that `resolve` has found. */
  readonly lookup: LookupFunction = (hostname, { all }, callback) => {
    const found = this.#results.peek(hostname) ?? new Error('The name has not been resolved');
    if (found instanceof Error) {
      callback(found, '', 0);
      return;
    }
    const last = found.filter(({ address }) => address === this.#connectedAddresses.get(hostname));
    const failureMs = ({ address }: LookupAddress): number =>
      this.#failuresMs.get(`${hostname} ${address}`) ?? -1;
    const addresses = [...new Set([...last, ...found])].toSorted(
      (one, other) => failureMs(one) - failureMs(other),
    );
    if (all === true) callback(null, addresses);
    else callback(null, addresses[0]?.address ?? '', addresses[0]?.family);
  };

  /** The address of a name that connected last is the first one to be tried. */
  noteConnected(hostname: string, address: string | undefined): void {
    if (address !== undefined) this.#connectedAddresses.set(hostname, address);
  }

  /** Addresses that failed are tried after the others for a minute, the last one that failed as the last. */
  noteFailed(hostname: string, ...addresses: readonly string[]): void {
    for (const address of addresses) this.#failuresMs.set(`${hostname} ${address}`, this.#clock.monotonic());
  }

  /** Looks a name up, or returns its last addresses if that takes long. */
  async resolve(hostname: string): Promise<Addresses> {
    if (isIP(hostname) !== 0) return [{ address: hostname, family: isIP(hostname) }];
    const found = new AbortController();
    const late = new AbortController();
    const waitMs = this.#slowNames.has(hostname) ? 0 : SLOW_LOOKUP_MS;
    if (Array.isArray(this.#results.peek(hostname)))
      this.#clock.sleep(waitMs, found.signal).then(
        () => late.abort(),
        () => undefined,
      );
    try {
      const result = await this.#results.fetch(hostname, { forceRefresh: true, signal: late.signal });
      if (result instanceof Error) throw result;
      return result ?? [];
    } finally {
      found.abort();
    }
  }

  /** Rejects only without last addresses: lru-cache would never end a fetch that rejects after its abort. */
  #lookUp(hostname: string, last: Addresses | Error | undefined): Promise<Addresses | Error> {
    const startedMs = this.#clock.monotonic();
    return new Promise((resolve, reject) => {
      this.#lookUpInSystem(hostname, { all: true }, (error, addresses) => {
        if (this.#clock.monotonic() - startedMs >= SLOW_LOOKUP_MS) this.#slowNames.set(hostname, true);
        else this.#slowNames.delete(hostname);
        if (error === null) resolve(addresses);
        else if (DENIED_CODES.includes(getErrorCode(error))) resolve(error);
        else if (Array.isArray(last)) resolve(last);
        else reject(error);
      });
    });
  }
}
