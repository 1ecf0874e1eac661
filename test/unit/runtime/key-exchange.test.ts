import assert from 'node:assert/strict';
import { once } from 'node:events';
import { createServer, type Socket } from 'node:net';
import { connect, createSecureContext, DEFAULT_CIPHERS, type ConnectionOptions } from 'node:tls';
import { test, type TestContext } from 'node:test';
import { CLIENT_KEY_EXCHANGE, excludeDhe } from '../../../src/runtime/key-exchange.ts';
import { collectListing, openClient, targetAt } from '../upstream/collect-listing.ts';
import { listen } from '../../support/servers.ts';
import { readFixture } from '../../support/fixtures.ts';
import { startSecuredServer, SERVER_CERTIFICATE } from '../web/secured-server.ts';

const TLS_1_3_SUITES = 'TLS_AES_256_GCM_SHA384:TLS_CHACHA20_POLY1305_SHA256';

test('a list of suites of TLS 1.3 alone stays valid', () => {
  assert.equal(excludeDhe(TLS_1_3_SUITES), TLS_1_3_SUITES);
  for (const ciphers of [TLS_1_3_SUITES, `${TLS_1_3_SUITES}:ECDHE-RSA-AES128-GCM-SHA256`, DEFAULT_CIPHERS])
    assert.doesNotThrow(() => createSecureContext({ ciphers: excludeDhe(ciphers) }), ciphers);
});

/** What the ClientHello of a client offers (RFC 8446, section 4.1.2). */
async function readClientHello(
  t: TestContext,
  open: (port: number) => unknown,
): Promise<{ readonly suites: readonly number[]; readonly groups: readonly number[] }> {
  const server = createServer();
  const port = await listen(t, server);
  open(port);
  const [socket]: Socket[] = await once(server, 'connection');
  assert.ok(socket !== undefined);
  const chunks: Buffer[] = [];
  socket.on('data', (chunk: Buffer) => chunks.push(chunk));
  const hello = (): Buffer => Buffer.concat(chunks);
  while (hello().length < 5 || hello().length < 5 + hello().readUInt16BE(3)) await once(socket, 'data');
  socket.destroy();
  const readList = (at: number, bytes: number): number[] =>
    Array.from({ length: bytes / 2 }, (_, index) => hello().readUInt16BE(at + 2 * index));
  const suitesAt = 43 + 1 + hello().readUInt8(43);
  const suites = readList(suitesAt + 2, hello().readUInt16BE(suitesAt));
  let at = suitesAt + 2 + 2 * suites.length;
  at += 1 + hello().readUInt8(at) + 2;
  while (hello().readUInt16BE(at) !== SUPPORTED_GROUPS) at += 4 + hello().readUInt16BE(at + 2);
  return { suites, groups: readList(at + 6, hello().readUInt16BE(at + 4)) };
}

const SUPPORTED_GROUPS = 10;
/** RFC 7919. */
const isFiniteField = (group: number): boolean => group >= 0x100 && group <= 0x1ff;
/** DHE with RSA and DSS, as OpenSSL knows it. */
const DHE_SUITES = [
  [0x32, 0x33, 0x38, 0x39, 0x40, 0x67, 0x6a, 0x6b, 0x9e, 0x9f, 0xa2, 0xa3, 0xccaa],
  [0xc052, 0xc053, 0xc056, 0xc057, 0xc09e, 0xc09f, 0xc0a2, 0xc0a3],
].flat();

for (const [name, ca] of [
  ['the bundled authorities', undefined],
  ['authorities of its own', readFixture('tls/ca.pem').toString()],
] as const)
  test(`a client with ${name} offers no key exchange in finite fields`, async (t) => {
    const { suites, groups } = await readClientHello(t, (port) => {
      const client = openClient(t, { tls: ca === undefined ? {} : { ca } });
      void collectListing(client, targetAt(`https://127.0.0.1:${port}`)).catch(() => undefined);
    });
    assert.ok(groups.length >= 3 && suites.length >= 3, `${groups.join()} and ${suites.join()}`);
    assert.deepEqual(groups.filter(isFiniteField), []);
    assert.deepEqual(
      suites.filter((suite) => DHE_SUITES.includes(suite)),
      [],
    );
  });

test('a client offers the other groups and suites of Node.js', async (t) => {
  const offer = async (options: ConnectionOptions) =>
    readClientHello(t, (port) =>
      connect({ host: '127.0.0.1', port, ...options }).on('error', () => undefined),
    );
  const [own, usual] = [await offer(CLIENT_KEY_EXCHANGE), await offer({})];
  assert.deepEqual(
    own.suites,
    usual.suites.filter((suite) => !DHE_SUITES.includes(suite)),
  );
  const x448 = 30;
  assert.deepEqual(
    own.groups.filter((group) => group !== x448).toSorted((one, other) => one - other),
    usual.groups
      .filter((group) => !isFiniteField(group) && group !== x448)
      .toSorted((one, other) => one - other),
  );
});

test('a server takes no key exchange in finite fields, also after a reload', async (t) => {
  const yml = `tls_server_config: { ${SERVER_CERTIFICATE} }\n`;
  const { port, write } = await startSecuredServer(t, yml);
  const exchange = async (ecdhCurve: string): Promise<string> => {
    const socket = connect({ host: '127.0.0.1', port, ecdhCurve, ca: readFixture('tls/ca.pem') });
    const outcome = Promise.race([
      once(socket, 'secureConnect').then(() => 'connected'),
      new Promise<string>((resolve) => socket.once('error', () => resolve('rejected'))),
    ]);
    const result = await outcome.catch(() => 'rejected');
    socket.destroy();
    return result;
  };
  for (const reload of [false, true]) {
    if (reload) await write(`${yml}http_server_config: { headers: { X-Frame-Options: deny } }\n`);
    for (const [group, expected] of [
      ['X25519', 'connected'],
      ['P-521', 'connected'],
      ['ffdhe2048', 'rejected'],
      ['ffdhe3072', 'rejected'],
      ['ffdhe8192', 'rejected'],
    ] as const)
      assert.equal(await exchange(group), expected, `${group}, reloaded: ${reload}`);
  }
});
