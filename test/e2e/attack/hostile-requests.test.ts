import assert from 'node:assert/strict';
import { writeFileSync } from 'node:fs';
import { test } from 'node:test';
import { TemporaryFolder } from '../../support/temporary-folder.ts';
import { HASH } from '../../unit/web/secured-server.ts';
import { AttackedExporter, nextEvent, SHIPPED } from './attacked-exporter.ts';

const CONNECTIONS = 400;
const MINIMAL_REQUEST = 'GET / HTTP/1.1\r\nHost:\r\n\r\n';
const PIPELINED = MINIMAL_REQUEST.repeat(65_536 / MINIMAL_REQUEST.length);

for (const [name, yml, status] of [
  ['without passwords', '', 200],
  ['with passwords', `basic_auth_users: { prometheus: ${HASH} }`, 401],
] as const) {
  test(`${name}, ${CONNECTIONS} connections that pipeline 64 KiB of requests take bounded memory`, async (t) => {
    using folder = new TemporaryFolder();
    writeFileSync(folder.at('web.yml'), yml);
    await using exporter = await AttackedExporter.start(
      { XVS_WEB_CONFIG_FILE: folder.at('web.yml') },
      SHIPPED.nodeFlags,
    );
    const sockets = await Promise.all(Array.from({ length: CONNECTIONS }, () => exporter.open()));
    const closed = sockets.map((socket) => nextEvent(socket.resume(), 'close'));
    for (const socket of sockets) socket.write(PIPELINED);
    assert.equal((await exporter.get()).status, status);
    await Promise.all(closed);
    assert.equal((await exporter.get()).status, status);
    t.diagnostic(`resident memory at most ${exporter.peakRssMiB.toFixed(0)} MiB`);
    assert.ok(exporter.peakRssMiB < SHIPPED.memoryMiB / 2, `${exporter.peakRssMiB} MiB`);
    assert.doesNotMatch(exporter.program.stderr, /"level":"(?:error|fatal)"/);
  });
}

test('a request with two Host headers gets a 400', async () => {
  await using exporter = await AttackedExporter.start();
  const socket = await exporter.open();
  let received = '';
  socket.setEncoding('latin1').on('data', (chunk: string) => (received += chunk));
  socket.write('GET /metrics HTTP/1.1\r\nHost: a\r\nHost: b\r\n\r\n');
  await nextEvent(socket, 'close');
  assert.match(received, /^HTTP\/1\.1 400 [^]*Expected one Host header, found 2\.\n$/);
});
