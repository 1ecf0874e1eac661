import dns, { type LookupAddress } from 'node:dns';
import { syncBuiltinESMExports } from 'node:module';
import { mock } from 'node:test';

/** A host name that only this resolver can resolve. */
export const HOST_NAME = 'service.invalid';

/** What the system resolver answers for a name that does not exist. */
const NOT_FOUND = Object.assign(new Error(`getaddrinfo ENOTFOUND ${HOST_NAME}`), {
  code: 'ENOTFOUND',
  syscall: 'getaddrinfo',
  hostname: HOST_NAME,
});

type Callback = (error: Error | null, addresses?: readonly LookupAddress[]) => void;

/** Resolves one name and passes all others to the system resolver. Disposal restores the system resolver. */
export class FakeResolver implements Disposable {
  /** If false, the name does not exist. */
  isKnown = true;
  readonly #mock;

  constructor() {
    const ofTheMachine = dns.lookup as (...args: unknown[]) => void;
    this.#mock = mock.method(dns, 'lookup', (...args: unknown[]) => {
      if (args[0] !== HOST_NAME) ofTheMachine(...args);
      else if (this.isKnown)
        process.nextTick(args.at(-1) as Callback, null, [{ address: '127.0.0.1', family: 4 }]);
      else process.nextTick(args.at(-1) as Callback, NOT_FOUND);
    });
    syncBuiltinESMExports();
  }

  [Symbol.dispose](): void {
    this.#mock.mock.restore();
    syncBuiltinESMExports();
  }
}
