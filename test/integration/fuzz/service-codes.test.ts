import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { systemClock } from '../../../src/runtime/clock.ts';
import { ConfigError } from '../../../src/config/config-error.ts';
import { authenticate, parseServiceCode } from '../../../src/simulator/authentication.ts';
import { buildListingAddress } from '../../../src/upstream/signing.ts';
import { signRequest } from '../../../src/upstream/signing.ts';
import { arbitraryText } from '../../support/arbitrary-text.ts';
import { loadConfiguration, REQUIRED_ENVIRONMENT } from '../../support/configuration.ts';
import { PUBLISHED_SCHEME } from '../../support/published-scheme.ts';
import { createRunParameters } from '../../support/run-parameters.ts';

const unit = fc.oneof(
  fc.constantFrom(...'&=?#%+/ ;:@"\\<>{}\u00e9\u{1f600}', '\ud800', '\udfff', '%41', '\u2028'),
  arbitraryText(1),
);
const serviceCode = fc.array(unit, { minLength: 1, maxLength: 12 }).map((units) => units.join(''));

/** Whether the configuration accepts the service code. */
async function isAccepted(code: string): Promise<boolean> {
  try {
    const yml = JSON.stringify({ service_codes: [{ service_code: code }] });
    const { XVS_SERVICE_CODES: _, ...env } = REQUIRED_ENVIRONMENT;
    const { serviceCodes } = await loadConfiguration({ yml, env });
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

test('the service authenticates requests of every service code that the configuration accepts', async () => {
  let accepted = 0;
  await fc.assert(
    fc.asyncProperty(serviceCode, async (code) => {
      if (!(await isAccepted(code))) return;
      accepted += 1;
      const address = buildListingAddress('https://live.example.com', code);
      const rawQuery = address.url.slice(address.url.indexOf('?') + 1);
      const headers = signRequest(PUBLISHED_SCHEME, 'abc', address, systemClock.now());
      assert.equal(parseServiceCode(rawQuery), code);
      const secretsByServiceCode = new Map([[code, 'abc']]);
      assert.equal(
        authenticate(
          { secretsByServiceCode, clock: systemClock, clockToleranceMs: 60_000 },
          rawQuery,
          headers,
        ),
        0,
      );
      assert.doesNotThrow(() => new Request(address.url, { headers }));
    }),
    createRunParameters(200),
  );
  assert.ok(accepted > 0, 'Expected accepted codes, found none');
});
