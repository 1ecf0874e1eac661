import dns from 'node:dns';
import { syncBuiltinESMExports } from 'node:module';
import { mock } from 'node:test';

/** A host name that only this resolver can resolve. */
export const HOST_NAME = 'service.invalid';

/** The result for the name: the address, NXDOMAIN from the system resolver, an error, or no response. */
export type Resolution = 'address' | 'unknown' | 'try_again' | 'silence';

type Callback = (error: Error | null, address?: unknown, family?: number) => void;

/** Resolves one name and passes all others to the system resolver. Disposal restores the system resolver. */
export class FakeResolver implements Disposable {
  mode: Resolution = 'address';
  readonly #mock;

  constructor() {
    const ofTheMachine = dns.lookup as (...args: unknown[]) => void;
    this.#mock = mock.method(dns, 'lookup', (...args: unknown[]) => {
      if (args[0] === HOST_NAME && this.mode !== 'unknown') this.#answer(args[1], args.at(-1) as Callback);
      else ofTheMachine(...args);
    });
    syncBuiltinESMExports();
  }

  #answer(options: unknown, callback: Callback): void {
    const wantsAll = typeof options === 'object' && options !== null && 'all' in options && options.all;
    const failure = Object.assign(new Error(`getaddrinfo EAI_AGAIN ${HOST_NAME}`), { code: 'EAI_AGAIN' });
    if (this.mode === 'try_again') process.nextTick(callback, failure);
    else if (this.mode !== 'silence') {
      if (wantsAll === true) process.nextTick(callback, null, [{ address: '127.0.0.1', family: 4 }]);
      else process.nextTick(callback, null, '127.0.0.1', 4);
    }
  }

  [Symbol.dispose](): void {
    this.#mock.mock.restore();
    syncBuiltinESMExports();
  }
}
