import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { systemClock } from '../../src/clock.ts';
import { ConfigError } from '../../src/config/problem.ts';
import { admit, serviceCodeOf } from '../../src/simulator/admission.ts';
import { listingAddress } from '../../src/upstream/address.ts';
import { signRequest } from '../../src/upstream/signing.ts';
import { load, NEEDED } from '../support/configuration.ts';
import { PUBLISHED_SCHEME } from '../support/published-scheme.ts';
import { runs } from './runs.ts';

const unit = fc.oneof(
  fc.constantFrom(...'&=?#%+/ ;:@"\\<>{}\u00e9\u{1f600}', '\ud800', '\udfff', '%41', '\u2028'),
  fc.string({ unit: 'binary', maxLength: 1 }),
);
const serviceCode = fc.array(unit, { minLength: 1, maxLength: 12 }).map((units) => units.join(''));

/** Whether the configuration takes the code for one. */
async function isTaken(code: string): Promise<boolean> {
  try {
    const yml = JSON.stringify({ service_codes: [{ service_code: code }] });
    const { XVS_SERVICE_CODES: _, ...env } = NEEDED;
    const { serviceCodes } = await load({ yml, env });
    assert.deepEqual(
      serviceCodes.map((one) => one.serviceCode),
      [code],
    );
    return true;
  } catch (error) {
    if (error instanceof ConfigError) return false;
    throw error;
  }
}

test('whatever service code the configuration takes, the service understands who asks, and that it is signed', async () => {
  let taken = 0;
  await fc.assert(
    fc.asyncProperty(serviceCode, async (code) => {
      if (!(await isTaken(code))) return;
      taken += 1;
      const address = listingAddress('https://live.example.com', code);
      const rawQuery = address.url.slice(address.url.indexOf('?') + 1);
      const headers = signRequest(PUBLISHED_SCHEME, 'abc', address, systemClock.now());
      assert.equal(serviceCodeOf(rawQuery), code);
      const secrets = new Map([[code, 'abc']]);
      assert.equal(admit({ secrets, clock: systemClock, clockToleranceMs: 60_000 }, rawQuery, headers), 0);
      assert.doesNotThrow(() => new Request(address.url, { headers }));
    }),
    runs(1500),
  );
  assert.ok(taken > 500, `Expected many codes to be taken, found ${taken}`);
});
