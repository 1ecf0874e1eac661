import assert from 'node:assert/strict';
import { Agent, request } from 'node:http';
import { Agent as TlsAgent, request as requestTls } from 'node:https';
import { connect } from 'node:net';
import { test } from 'node:test';
import { connect as connectTls } from 'node:tls';
import { respond } from '../../../src/web/http-messages.ts';
import { readFixture } from '../../support/fixtures.ts';
import { readResponse, SERVER_CERTIFICATE, startSecuredServer } from '../../unit/web/secured-server.ts';

const HOST = '127.0.0.1';
const REQUEST = 'GET / HTTP/1.1\r\nHost: x\r\n\r\n';
const KEEP_ALIVE_CLIENTS = 4;
const REQUESTS_OF_CLIENT = 2000;
const CA = readFixture('tls/ca.pem');

/** Defines the tests of pipelining over http or https. */
export function definePipeliningTests(scheme: 'http' | 'https'): void {
  const yml = scheme === 'http' ? '' : `tls_server_config: { ${SERVER_CERTIFICATE} }`;

  test(`over ${scheme}, a pipelined request ends the connection at once`, async (t) => {
    const { port, metrics } = await startSecuredServer(t, yml);
    const socket =
      scheme === 'http'
        ? connect({ host: HOST, port })
        : connectTls({ host: HOST, port, ca: CA, servername: 'localhost' });
    let received = '';
    socket.setEncoding('latin1').on('data', (text: string) => (received += text));
    socket.on('error', () => undefined);
    socket.write(REQUEST.repeat(1000));
    await new Promise((resolve) => socket.once('close', resolve));
    assert.equal(received, '');
    assert.deepEqual(metrics.closed, ['pipelining']);
  });

  test(`over ${scheme}, no request of a keep-alive client is taken for pipelining`, async (t) => {
    // Small and large bodies: large ones are still on their way when a client begins to read.
    const bodies = [Buffer.from('small'), Buffer.alloc(300_000)];
    let count = 0;
    const { port, metrics } = await startSecuredServer(t, yml, {
      handle: () =>
        Promise.resolve(respond(200, bodies[(count += 1) % 100 === 0 ? 1 : 0] ?? '', 'text/plain')),
    });
    const agents = Array.from({ length: KEEP_ALIVE_CLIENTS }, () =>
      scheme === 'http'
        ? new Agent({ keepAlive: true, maxSockets: 1 })
        : new TlsAgent({ keepAlive: true, maxSockets: 1 }),
    );
    t.after(() => agents.forEach((agent) => agent.destroy()));
    const send = scheme === 'http' ? request : requestTls;
    await Promise.all(
      agents.map(async (agent) => {
        for (let turn = 0; turn < REQUESTS_OF_CLIENT; turn += 1) {
          const { status } = await readResponse(send({ host: HOST, port, agent, ca: CA }).end());
          assert.equal(status, 200);
        }
      }),
    );
    assert.deepEqual([count, metrics.closed], [KEEP_ALIVE_CLIENTS * REQUESTS_OF_CLIENT, []]);
  });
}
