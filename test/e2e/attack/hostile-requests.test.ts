import assert from 'node:assert/strict';
import { test } from 'node:test';
import { AttackedExporter, formatRequest, nextEvent } from './attacked-exporter.ts';

/** More than `web.max_requests`. */
const PIPELINED = 60;

test('connections that pipeline scrapes and reset do not block the next scrape', async () => {
  await using exporter = await AttackedExporter.start();
  for (let attack = 0; attack < 3; attack += 1) {
    const socket = await exporter.open();
    socket.write(formatRequest().repeat(PIPELINED));
    // The requests arrive in one segment, so the server has read all of them.
    await nextEvent(socket, 'data');
    socket.resetAndDestroy();
    assert.equal((await exporter.get()).status, 200);
  }
  assert.doesNotMatch(exporter.program.stderr, /"level":"(?:error|fatal)"/);
});

for (const [name, text, expected] of [
  [
    'a connection that pipelines gets one response and ends',
    formatRequest().repeat(PIPELINED),
    /^HTTP\/1\.1 200 /,
  ],
  [
    'a request with two Host headers gets a 400',
    'GET /metrics HTTP/1.1\r\nHost: a\r\nHost: b\r\n\r\n',
    /^HTTP\/1\.1 400 [^]*Expected one Host header, found 2\.\n$/,
  ],
] as const) {
  test(`${name}, and other clients are answered`, async () => {
    await using exporter = await AttackedExporter.start();
    const socket = await exporter.open();
    let received = '';
    socket.setEncoding('latin1').on('data', (chunk: string) => (received += chunk));
    socket.write(text);
    const closed = nextEvent(socket, 'close');
    const others = await Promise.all([1, 2, 3].map(() => exporter.get()));
    await closed;
    assert.deepEqual(
      others.map(({ status }) => status),
      [200, 200, 200],
    );
    assert.match(received, expected);
    assert.equal(received.match(/^HTTP\/1\.1 /gm)?.length, 1);
  });
}
