import assert from 'node:assert/strict';
import { once } from 'node:events';
import { connect, type Socket } from 'node:net';
import { test } from 'node:test';
import { startProgram, type Program } from '../../support/program.ts';

const SCRAPE = 'GET /metrics HTTP/1.1\r\nHost: x\r\n\r\n';
/** More than `web.max_requests`. */
const PIPELINED = 60;

function startExporter(): Program {
  return startProgram(['--web.listen-address=127.0.0.1:0'], {
    XVS_UPSTREAM_BASE_URL: 'http://127.0.0.1:1',
    XVS_SERVICE_CODES: 'A',
    XVS_SECRET: 'abc',
  });
}

async function openConnection(port: number): Promise<Socket> {
  const socket = connect(port, '127.0.0.1').on('error', () => undefined);
  await once(socket, 'connect');
  return socket;
}

async function fetchStatus(port: number): Promise<number> {
  const response = await fetch(`http://127.0.0.1:${port}/metrics`);
  await response.arrayBuffer();
  return response.status;
}

test(
  'connections that pipeline scrapes and reset do not block the next scrape',
  { timeout: 600_000 },
  async () => {
    await using exporter = startExporter();
    const port = Number(await exporter.waitForOutput(/"port":(\d+),"msg":"Listening"/));
    for (let attack = 0; attack < 3; attack += 1) {
      const socket = await openConnection(port);
      socket.write(SCRAPE.repeat(PIPELINED));
      // The requests arrive in one segment, so the server has read all of them.
      await once(socket, 'data');
      socket.resetAndDestroy();
      assert.equal(await fetchStatus(port), 200);
    }
    assert.equal(await fetchStatus(port), 200);
    assert.doesNotMatch(exporter.stderr, /"level":"(?:error|fatal)"/);
  },
);

test(
  'a connection that pipelines gets one response and ends, and other clients are answered',
  { timeout: 600_000 },
  async () => {
    await using exporter = startExporter();
    const port = Number(await exporter.waitForOutput(/"port":(\d+),"msg":"Listening"/));
    const socket = await openConnection(port);
    let received = '';
    socket.setEncoding('latin1').on('data', (text: string) => (received += text));
    socket.write(SCRAPE.repeat(PIPELINED));
    const closed = once(socket, 'close');
    const others = await Promise.all([1, 2, 3].map(() => fetchStatus(port)));
    await closed;
    assert.deepEqual(others, [200, 200, 200]);
    assert.equal(received.match(/^HTTP\/1\.1 200 /gm)?.length, 1);
  },
);
