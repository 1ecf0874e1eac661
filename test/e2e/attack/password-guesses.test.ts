import assert from 'node:assert/strict';
import { writeFileSync } from 'node:fs';
import { test } from 'node:test';
import { hashSync } from '@node-rs/bcrypt';
import { TemporaryFolder } from '../../support/temporary-folder.ts';
import {
  ATTACKER_ADDRESS,
  AttackedExporter,
  basicAuthorization,
  formatRequest,
  nextEvent,
  ROUNDS,
} from './attacked-exporter.ts';

const MAX_RSS_MIB = 300;
const GUESSING_CONNECTIONS = 64;
/** Users whose passwords are not cached, so that each first scrape needs a comparison. */
const USERS = Array.from({ length: 1 + 5 * ROUNDS }, (_, index) => `scraper-${index}`);
const PASSWORD = 'sesame';

/** At cost 12, a comparison takes 0.25 s, so guesses wait in the queue. */
function writeWebConfiguration(folder: TemporaryFolder): string {
  const hash = hashSync(PASSWORD, 12);
  writeFileSync(
    folder.at('web.yml'),
    `basic_auth_users:\n${USERS.map((user) => `  ${user}: ${hash}\n`).join('')}`,
  );
  return folder.at('web.yml');
}

/** Sends guesses until the signal aborts, each on a new connection after the previous response. */
async function guess(exporter: AttackedExporter, name: string, signal: AbortSignal): Promise<void> {
  for (let attempt = 0; !signal.aborted; attempt += 1) {
    const socket = await exporter.open(ATTACKER_ADDRESS);
    const closed = nextEvent(socket.resume(), 'close');
    const user = attempt % 2 === 0 ? 'scraper-0' : `unknown-${attempt}`;
    socket.write(formatRequest('/metrics', basicAuthorization(user, `guess ${name} ${attempt}`)));
    await closed;
  }
}

test(
  'the first scrape with a valid password succeeds during a flood of guesses',
  { timeout: 600_000 },
  async () => {
    using folder = new TemporaryFolder();
    await using exporter = await AttackedExporter.start({
      XVS_WEB_CONFIG_FILE: writeWebConfiguration(folder),
    });
    const stopped = new AbortController();
    const guesses = Array.from({ length: GUESSING_CONNECTIONS }, (_, index) =>
      guess(exporter, String(index), stopped.signal),
    );
    // By now, each client has its own connection.
    await exporter.get({ path: '/', authorization: basicAuthorization('scraper-0', PASSWORD) });
    const statuses = [];
    for (const user of USERS.slice(1)) {
      const { status } = await exporter.get({ authorization: basicAuthorization(user, PASSWORD) });
      statuses.push(status);
    }
    stopped.abort();
    assert.deepEqual(new Set(statuses), new Set([200]));
    assert.ok(exporter.peakRssMiB < MAX_RSS_MIB, `${exporter.peakRssMiB} MiB`);
    await exporter.program[Symbol.asyncDispose]();
    await Promise.all(guesses);
  },
);
