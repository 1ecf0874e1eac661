import assert from 'node:assert/strict';
import type { RequestListener } from 'node:http';
import { describe, it } from 'node:test';

import { fixture } from '../support/fixtures.ts';
import { ask, failsWith, openClient, targetAt } from './asking.ts';
import { serveHttp, serveHttps } from './servers.ts';

function pem(name: string): string {
  return fixture(`tls/${name}`).toString();
}

const ca = pem('ca.pem');
const answer: RequestListener = (_request, response) => {
  response.end('{}');
};

function identity(name: string): { readonly cert: string; readonly key: string } {
  return { cert: pem(`${name}.pem`), key: pem(`${name}.key`) };
}

describe('TLS', () => {
  it('takes a server that an authority of the user vouches for', async (t) => {
    const url = await serveHttps(t, identity('server'), answer);
    assert.equal((await ask(openClient(t, { tls: { ca } }), targetAt(url))).status, 200);
  });

  for (const [name, server, tls, code] of [
    ['an authority that it does not know', 'server', {}, 'UNABLE_TO_VERIFY_LEAF_SIGNATURE'],
    ['a certificate that has expired', 'expired', { ca }, 'CERT_HAS_EXPIRED'],
    ['a certificate of another host', 'wrong-host', { ca }, 'ERR_TLS_CERT_ALTNAME_INVALID'],
    ['a certificate that vouches for itself', 'self-signed', { ca }, 'DEPTH_ZERO_SELF_SIGNED_CERT'],
  ] as const) {
    it(`refuses ${name}`, async (t) => {
      const url = await serveHttps(t, identity(server), answer);
      const error = await failsWith(ask(openClient(t, { tls }), targetAt(url)), 'tls');
      assert.equal(error.message, `No trusted TLS connection to the service could be made (${code})`);
    });
  }

  it('refuses a server that speaks plain HTTP', async (t) => {
    const url = await serveHttp(t, answer);
    await failsWith(ask(openClient(t), targetAt(url.replace('http:', 'https:'))), 'tls');
  });

  it('shows its own certificate to a server that demands one', async (t) => {
    const options = { ...identity('server'), ca, requestCert: true, rejectUnauthorized: true };
    const url = await serveHttps(t, options, answer);
    const client = openClient(t, { tls: { ca, ...identity('client') } });
    assert.equal((await ask(client, targetAt(url))).status, 200);
  });

  // In TLS 1.3 a client learns of it after the handshake, and from a server of Node by a closed connection alone.
  for (const [maxVersion, reason] of [
    ['TLSv1.2', 'tls'],
    ['TLSv1.3', 'reset'],
  ] as const) {
    it(`is refused over ${maxVersion} where it has no certificate to show: ${reason}`, async (t) => {
      const options = { ...identity('server'), ca, requestCert: true, rejectUnauthorized: true, maxVersion };
      const url = await serveHttps(t, options, answer);
      await failsWith(ask(openClient(t, { tls: { ca } }), targetAt(url)), reason);
    });
  }
});
