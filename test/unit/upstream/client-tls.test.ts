import assert from 'node:assert/strict';
import { X509Certificate } from 'node:crypto';
import type { RequestListener } from 'node:http';
import { describe, it } from 'node:test';

import { CertificatePaths } from '../../../src/upstream/certificate-path.ts';
import type { ResponseHead } from '../../../src/upstream/request-observer.ts';
import { readFixture, readIdentity } from '../../support/fixtures.ts';
import { collectListing, assertFailsWith, openClient, targetAt } from './collect-listing.ts';
import { measureCostRatio } from '../../support/cost-ratio.ts';
import { serveHttps, serveProxy } from '../../support/servers.ts';

function readPem(name: string): string {
  return readFixture(`tls/${name}`).toString();
}

const ca = readPem('ca.pem');
const respond: RequestListener = (_request, response) => {
  response.end('{}');
};

describe('TLS', () => {
  it('accepts an intermediate CA as the one that is trusted, without the root', async (t) => {
    const intermediate = readPem('intermediate.pem');
    const url = await serveHttps(t, readIdentity('issued'), respond);
    const client = openClient(t, { tls: { ca: intermediate } });
    assert.equal((await collectListing(client, targetAt(url))).status, 200);
    const { url: httpsProxy } = await serveProxy(t);
    const proxied = openClient(t, { tls: { ca: intermediate }, proxy: { httpsProxy } });
    assert.equal((await collectListing(proxied, targetAt(url))).status, 200);
    const other = openClient(t, { tls: { ca: readPem('self-signed.pem') } });
    await assertFailsWith(collectListing(other, targetAt(url)), 'tls');
  });

  it('reports the soonest expiry of the certificate chain, also on a connection that is reused', async (t) => {
    const url = await serveHttps(t, readIdentity('server'), respond);
    const client = openClient(t, { tls: { ca } });
    const found: (number | undefined)[] = [];
    const observer = {
      onResponse: ({ certificateNotAfterMs }: ResponseHead) => found.push(certificateNotAfterMs),
      onBodyBytes: () => undefined,
    };
    for (let request = 0; request < 2; request += 1)
      await client.requestListing(targetAt(url), () => undefined, new AbortController().signal, observer);
    const expiries = ['server', 'ca'].map((name) =>
      Date.parse(new X509Certificate(readPem(`${name}.pem`)).validTo),
    );
    assert.deepEqual(found, [Math.min(...expiries), Math.min(...expiries)]);
  });

  it('reports the expiry of the path to a trusted certificate, not of one that was sent besides', async (t) => {
    const { cert, key } = readIdentity('issued-by-root');
    const url = await serveHttps(t, { cert: cert + readPem('cross-signed.pem'), key }, respond);
    const client = openClient(t, { tls: { ca: readPem('root.pem') } });
    const found: (number | undefined)[] = [];
    const observer = {
      onResponse: ({ certificateNotAfterMs }: ResponseHead) => found.push(certificateNotAfterMs),
    };
    await client.requestListing(targetAt(url), () => undefined, new AbortController().signal, observer);
    assert.deepEqual(found, [Date.parse(new X509Certificate(cert).validTo)]);
  });

  it('reads the authorities that Node.js bundles once for the process', async () => {
    const certificate = new X509Certificate(ca).toLegacyObject();
    const find = (authorities?: string) => new CertificatePaths(authorities).findSoonestExpiryMs(certificate);
    find();
    const ratio = await measureCostRatio(
      () => find(),
      () => find(ca),
    );
    assert.ok(ratio < 1, `${ratio.toFixed(1)} times the cost of reading one`);
  });

  it('sends its client certificate to a server that requires one', async (t) => {
    const options = { ...readIdentity('server'), ca, requestCert: true, rejectUnauthorized: true };
    const url = await serveHttps(t, options, respond);
    const client = openClient(t, { tls: { ca, ...readIdentity('client') } });
    assert.equal((await collectListing(client, targetAt(url))).status, 200);
  });
});
