import assert from 'node:assert/strict';
import { writeFileSync } from 'node:fs';
import { Agent } from 'node:http';
import { test } from 'node:test';
import { TemporaryFolder } from '../../support/temporary-folder.ts';
import { HASH, PASSWORD } from '../../unit/web/secured-server.ts';
import {
  AttackedExporter,
  basicAuthorization,
  formatRequest,
  nextEvent,
  ROUNDS,
} from './attacked-exporter.ts';

/** More than the limit, from several addresses. */
const CONNECTIONS = 600;
const ADDRESSES = ['127.0.0.2', '127.0.0.3', '127.0.0.4', '127.0.0.5', '127.0.0.6', '127.0.0.7'];
const MAX_RSS_MIB = 300;

/** Opens connections that get one response each and stay open until the exporter closes them. */
async function hoard(exporter: AttackedExporter): Promise<void> {
  for (let index = 0; index < CONNECTIONS; index += 1) {
    const socket = await exporter.open(ADDRESSES[index % ADDRESSES.length]);
    const answered = Promise.race([nextEvent(socket, 'data'), nextEvent(socket, 'close')]);
    socket.write(formatRequest('/'));
    await answered;
  }
}

for (const [name, users, authorization] of [
  ['without passwords', '', undefined],
  [
    'with passwords',
    `basic_auth_users: { prometheus: ${HASH} }\n`,
    basicAuthorization('prometheus', PASSWORD),
  ],
] as const) {
  test(`${name}, idle connections block neither scrapes nor probes`, { timeout: 600_000 }, async () => {
    using folder = new TemporaryFolder();
    writeFileSync(folder.at('web.yml'), users);
    await using exporter = await AttackedExporter.start({
      XVS_WEB_CONFIG_FILE: folder.at('web.yml'),
      XVS_WEB_OPEN_PROBES: 'true',
    });
    // Prometheus keeps its connection between scrapes.
    using agent = Object.assign(new Agent({ keepAlive: true, maxSockets: 1 }), {
      [Symbol.dispose]: () => agent.destroy(),
    });
    const scrape = async (own?: Agent): Promise<number> => {
      const options = { ...(authorization !== undefined && { authorization }), ...(own && { agent: own }) };
      const { status } = await exporter.get(options);
      return status;
    };
    assert.equal(await scrape(agent), 200);
    for (let round = 0; round < ROUNDS; round += 1) {
      await hoard(exporter);
      const probe = await exporter.get({ path: '/-/healthy', localAddress: '127.0.0.8' });
      assert.deepEqual([await scrape(agent), await scrape(), probe.status], [200, 200, 200]);
    }
    assert.ok(exporter.peakRssMiB < MAX_RSS_MIB, `${exporter.peakRssMiB} MiB`);
  });
}
