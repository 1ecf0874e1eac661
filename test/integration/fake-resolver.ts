import dns, { type LookupAddress } from 'node:dns';
import { syncBuiltinESMExports } from 'node:module';
import { mock } from 'node:test';

/** A host name that only this resolver can resolve. */
export const HOST_NAME = 'service.invalid';

type Callback = (error: Error | null, addresses?: readonly LookupAddress[]) => void;

/** Resolves one name and passes all others to the system resolver. Disposal restores the system resolver. */
export class FakeResolver implements Disposable {
  /** If false, the system resolver answers for the name: it does not exist. */
  isKnown = true;
  readonly #mock;

  constructor() {
    const ofTheMachine = dns.lookup as (...args: unknown[]) => void;
    this.#mock = mock.method(dns, 'lookup', (...args: unknown[]) => {
      if (args[0] !== HOST_NAME || !this.isKnown) ofTheMachine(...args);
      else process.nextTick(args.at(-1) as Callback, null, [{ address: '127.0.0.1', family: 4 }]);
    });
    syncBuiltinESMExports();
  }

  [Symbol.dispose](): void {
    this.#mock.mock.restore();
    syncBuiltinESMExports();
  }
}
