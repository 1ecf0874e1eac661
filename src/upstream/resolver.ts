import { lookup as lookUpAddresses, type LookupAddress, type LookupAllOptions } from 'node:dns';
import { isIP, type LookupFunction } from 'node:net';
import { LRUCache } from 'lru-cache';
import PQueue from 'p-queue';
import { linkAbort } from '../runtime/abort.ts';
import type { Clock } from '../runtime/clock.ts';
import { getErrorCode } from '../runtime/errors.ts';

/**
 * While a lookup takes longer, requests use the addresses of the one before, and the next lookup of the name
 * waits for those of other slow names.
 */
const SLOW_LOOKUP_MS = 1000;

/** The resolver remembers this many host names: those of base URLs and proxies. */
const MAX_NAMES = 10_000;

/** With these codes, a name server says that the name has no address: earlier ones no longer hold. */
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
  readonly #results = new LRUCache<string, Addresses | Error>({ max: MAX_NAMES });
  readonly #lookups = new Map<string, Promise<Addresses>>();
  readonly #connectedAddresses = new LRUCache<string, string>({ max: MAX_NAMES });
  /** When an address failed last, by host name and address. */
  readonly #failuresMs = new LRUCache<string, number>({ max: MAX_NAMES });
  readonly #slowNames = new LRUCache<string, true>({ max: MAX_NAMES });
  readonly #slowQueue = new PQueue({ concurrency: 1 });

  constructor({ clock, lookup = lookUpAddresses }: ResolverOptions) {
    this.#clock = clock;
    this.#lookUpInSystem = lookup;
  }

  /** As the option `lookup` of a socket: the addresses that `resolve` has found. */
  readonly lookup: LookupFunction = (hostname, { all }, callback) => {
    const found = this.#results.get(hostname) ?? new Error('The name has not been resolved');
    if (found instanceof Error) {
      callback(found, '', 0);
      return;
    }
    const last = found.filter(({ address }) => address === this.#connectedAddresses.get(hostname));
    const sinceMs = this.#clock.monotonic() - FAILED_MS;
    const failureMs = ({ address }: LookupAddress): number =>
      Math.max(sinceMs, this.#failuresMs.get(`${hostname} ${address}`) ?? sinceMs);
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

  /** For a minute, addresses that failed are tried after the others, the latest failure as the last. */
  noteFailed(hostname: string, ...addresses: readonly string[]): void {
    for (const address of addresses) this.#failuresMs.set(`${hostname} ${address}`, this.#clock.monotonic());
  }

  /** Looks a name up, or returns its last addresses if that takes long. */
  async resolve(hostname: string): Promise<Addresses> {
    const family = isIP(hostname);
    if (family !== 0) return [{ address: hostname, family }];
    const isSlow = this.#slowNames.has(hostname);
    const last = this.#results.get(hostname);
    const lookup = this.#lookups.get(hostname) ?? this.#startLookup(hostname, isSlow);
    if (!Array.isArray(last)) return await lookup;
    using found = linkAbort(undefined);
    const useLast = (): Addresses => last;
    const waitMs = isSlow ? 0 : SLOW_LOOKUP_MS;
    return await Promise.race([lookup, this.#clock.sleep(waitMs, found.signal).then(useLast, useLast)]);
  }

  #startLookup(hostname: string, isSlow: boolean): Promise<Addresses> {
    const lookUp = () => this.#lookUp(hostname);
    const lookup = isSlow ? this.#slowQueue.add(lookUp) : lookUp();
    const ended = lookup.finally(() => this.#lookups.delete(hostname));
    this.#lookups.set(hostname, ended);
    return ended;
  }

  #lookUp(hostname: string): Promise<Addresses> {
    const startedMs = this.#clock.monotonic();
    return new Promise((resolve, reject) => {
      this.#lookUpInSystem(hostname, { all: true }, (error, addresses) => {
        if (this.#clock.monotonic() - startedMs >= SLOW_LOOKUP_MS) this.#slowNames.set(hostname, true);
        else this.#slowNames.delete(hostname);
        if (error === null || DENIED_CODES.includes(getErrorCode(error)))
          this.#results.set(hostname, error ?? addresses);
        const last = this.#results.get(hostname);
        if (Array.isArray(last)) resolve(last);
        else reject(error);
      });
    });
  }
}
