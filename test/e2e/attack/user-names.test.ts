import assert from 'node:assert/strict';
import { writeFileSync } from 'node:fs';
import { test } from 'node:test';
import { TemporaryFolder } from '../../support/temporary-folder.ts';
import { HASH } from '../../unit/web/secured-server.ts';
import { AttackedExporter, basicAuthorization, ROUNDS } from './attacked-exporter.ts';

/** `npm run attack` has 25 rounds, which make 5,000 requests. */
const REQUESTS = 200 * ROUNDS;

/** Names of equal length. */
const USERS = { existing: 'prometheus', unknown: 'promotheus' } as const;

test('the time of a 401 does not reveal whether a user exists', { timeout: 600_000 }, async (t) => {
  using folder = new TemporaryFolder();
  writeFileSync(folder.at('web.yml'), `basic_auth_users: { ${USERS.existing}: ${HASH} }\n`);
  await using exporter = await AttackedExporter.start({ XVS_WEB_CONFIG_FILE: folder.at('web.yml') });
  const durations = { existing: [] as number[], unknown: [] as number[] };
  for (let index = 0; index < 2 * REQUESTS + 2; index += 1) {
    const kind = index % 2 === 0 ? 'existing' : 'unknown';
    const authorization = basicAuthorization(USERS[kind], 'wrong');
    const start = performance.now();
    const { status, body } = await exporter.get({ authorization });
    // The first wrong password of each user is compared; the cache rejects the next ones.
    if (index >= 2) durations[kind].push(performance.now() - start);
    assert.deepEqual([status, body], [401, 'Unauthorized.\n']);
  }
  for (const [kind, values] of Object.entries(durations)) {
    const sorted = values.toSorted((a, b) => a - b);
    const quantiles = [0.25, 0.5, 0.75].map((share) => sorted[Math.floor(share * sorted.length)] ?? 0);
    const text = quantiles.map((ms) => `${(ms * 1000).toFixed(0)} µs`).join(', ');
    // Printed only: an assertion on durations would depend on the machine.
    t.diagnostic(`${kind} user, ${values.length} requests: quartiles ${text}`);
  }
});
