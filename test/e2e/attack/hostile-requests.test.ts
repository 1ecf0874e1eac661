import assert from 'node:assert/strict';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { connect as connectTls } from 'node:tls';
import { readFixture, readIdentity } from '../../support/fixtures.ts';
import { TemporaryFolder } from '../../support/temporary-folder.ts';
import { SHIPPED } from '../../support/shipped.ts';
import { certificateFolder, HASH, SERVER_CERTIFICATE } from '../../unit/web/secured-server.ts';
import { AttackedExporter, nextEvent, PIPELINED } from './attacked-exporter.ts';

const CONNECTIONS = 400;
const USERS = `basic_auth_users: { prometheus: ${HASH} }`;

test(`${CONNECTIONS} connections that pipeline 64 KiB of requests take bounded memory`, async (t) => {
  using folder = new TemporaryFolder();
  writeFileSync(folder.at('web.yml'), USERS);
  await using exporter = await AttackedExporter.start({ XVS_WEB_CONFIG_FILE: folder.at('web.yml') });
  const sockets = await Promise.all(Array.from({ length: CONNECTIONS }, () => exporter.open()));
  const closed = sockets.map((socket) => nextEvent(socket.resume(), 'close'));
  for (const socket of sockets) socket.write(PIPELINED);
  assert.equal((await exporter.get()).status, 401);
  await Promise.all(closed);
  assert.equal((await exporter.get()).status, 401);
  t.diagnostic(`resident memory at most ${exporter.program.peakRssMiB.toFixed(0)} MiB`);
  assert.ok(exporter.program.peakRssMiB < SHIPPED.memoryMiB / 2, `${exporter.program.peakRssMiB} MiB`);
  assert.doesNotMatch(exporter.program.stderr, /"level":"(?:error|fatal)"/);
});

for (const [headers, status, body] of [
  ['Host: a\r\nHost: b', 400, 'Expected one Host header, found 2.\n'],
  ['Host: a\r\nExpect: x', 401, ''],
  ['Host: a\r\nExpect: 100-continue', 401, ''],
] as const)
  test(`a request with ${headers.replace('\r\n', ' and ')} and without a password gets a ${status}`, async () => {
    using folder = new TemporaryFolder();
    writeFileSync(folder.at('web.yml'), USERS);
    await using exporter = await AttackedExporter.start({ XVS_WEB_CONFIG_FILE: folder.at('web.yml') });
    const socket = await exporter.open();
    let received = '';
    socket.setEncoding('latin1').on('data', (chunk: string) => (received += chunk));
    socket.write(`GET /metrics HTTP/1.1\r\n${headers}\r\n\r\n`);
    await nextEvent(socket, 'close');
    assert.ok(received.startsWith(`HTTP/1.1 ${status} `) && received.endsWith(body), received);
  });

for (const maxVersion of ['TLSv1.2', 'TLSv1.3'] as const) {
  test(`over ${maxVersion}, an expired client certificate cannot resume the session of a valid one`, async (t) => {
    const folder = certificateFolder(t);
    const tls = `${SERVER_CERTIFICATE}, client_ca_file: ca.pem, client_auth_type: RequireAndVerifyClientCert`;
    writeFileSync(join(folder, 'web.yml'), `tls_server_config: { ${tls} }`);
    await using exporter = await AttackedExporter.start({ XVS_WEB_CONFIG_FILE: join(folder, 'web.yml') });
    const exchange = async (name: string, session?: Buffer) => {
      const socket = connectTls({
        host: '127.0.0.1',
        port: exporter.port,
        servername: 'localhost',
        ca: readFixture('tls/ca.pem'),
        maxVersion,
        session,
        ...readIdentity(name),
      });
      const sessions: Buffer[] = [];
      socket.on('session', (next) => sessions.push(next)).on('error', () => undefined);
      let received = '';
      socket.on('data', (chunk) => (received += String(chunk)));
      socket.write('GET / HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n');
      await nextEvent(socket, 'close');
      return { status: received.slice(9, 12), session: sessions.at(-1) };
    };
    const { status, session } = await exchange('client');
    assert.equal(status, '200');
    assert.deepEqual(await exchange('expired', session), { status: '', session: undefined });
  });
}
