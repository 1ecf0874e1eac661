import assert from 'node:assert/strict';
import { test } from 'node:test';
import { findWarnings } from '../../../src/config/configuration.ts';
import { loadConfiguration, SECRET, type Files } from '../../support/configuration.ts';
import { readFixture, readIdentity } from '../../support/fixtures.ts';

const NOW_MS = Date.parse('2026-01-01');
const HTTPS = { XVS_UPSTREAM_BASE_URL: 'https://live.example.com', XVS_SECRET: SECRET };
const CA = { ...HTTPS, XVS_SERVICE_CODES: 'A', XVS_UPSTREAM_CA_FILE: '/etc/ca.pem' };
const HTTP_CA = { ...CA, XVS_UPSTREAM_BASE_URL: 'http://live.example.com' };
const files: Files = { '/etc/ca.pem': readFixture('tls/ca.pem').toString() };

const SEPARATORS =
  'service_codes: expected codes that are separated by commas, found one with a blank or ";"';
const QUOTES = (path: string, subject: string) =>
  `${path}: expected ${subject} without quotes around it, found one with quotes; docker --env-file does not strip quotes`;
const CERTIFICATES = 'upstream: expected an https URL for the certificates, found http URLs, which use none';

const TABLE: readonly [name: string, env: Readonly<Record<string, string>>, warnings: readonly string[]][] = [
  ['codes with commas', { ...HTTPS, XVS_SERVICE_CODES: 'A, B' }, []],
  ['codes with blanks', { ...HTTPS, XVS_SERVICE_CODES: 'A B C' }, [SEPARATORS]],
  ['codes with semicolons', { ...HTTPS, XVS_SERVICE_CODES: 'A;B' }, [SEPARATORS]],
  ['a code in quotes', { ...HTTPS, XVS_SERVICE_CODES: '"TESTING"' }, [QUOTES('service_codes', 'a code')]],
  ['codes in quotes', { ...HTTPS, XVS_SERVICE_CODES: "'A,B'" }, [QUOTES('service_codes', 'a code')]],
  ['a code with a quote in it', { ...HTTPS, XVS_SERVICE_CODES: "O'Brien" }, []],
  [
    'a template in quotes',
    { ...HTTPS, XVS_SERVICE_CODES: 'A', XVS_SIGNING_TEMPLATE: '"{path}{query}{timestamp}"' },
    [QUOTES('signing.template', 'a template')],
  ],
  ['certificates with https', CA, []],
  ['certificates with http', HTTP_CA, [CERTIFICATES]],
  ['certificates for a proxy', { ...HTTP_CA, http_proxy: 'https://proxy.example.com' }, []],
];

for (const [name, env, warnings] of TABLE)
  test(`warnings about ${name}: ${warnings.length}`, async () =>
    assert.deepEqual([...findWarnings(await loadConfiguration({ env, files }), NOW_MS)], warnings));

for (const [name, found] of [
  ['client', undefined],
  ['brainpool', /expected a key that TLS can use, found one on the curve brainpoolP256r1; /],
  ['expired', /expected a certificate that is valid, found one that expired on 2001-01-01; /],
  ['not-yet-valid', /expected a certificate that is valid, found one that begins on 2090-01-01; /],
  ['server-only', /expected a certificate for clients, found one for other uses \(extendedKeyUsage\); /],
  ['nameless', undefined],
] as const)
  test(`the client certificate ${name} is ${found === undefined ? 'accepted' : 'warned of'}`, async () => {
    const { cert, key } = readIdentity(name);
    const configuration = await loadConfiguration({
      env: { ...CA, XVS_UPSTREAM_CERT_FILE: '/c.pem', XVS_UPSTREAM_KEY_FILE: '/c.key' },
      // Only the first one is that of the client.
      files: { ...files, '/c.pem': cert + readFixture('tls/expired.pem').toString(), '/c.key': key },
    });
    const warnings = [...findWarnings(configuration, NOW_MS)].join('\n');
    if (found === undefined) assert.equal(warnings, '');
    else assert.match(warnings, new RegExp(`^upstream\\.cert_file: ${found.source}[^\n]*$`));
  });

test('labels that targets in Kubernetes have are warned of once', async () => {
  const codes = ['A', 'B'].map((code) => `{ service_code: ${code}, labels: { service: x, team: y } }`);
  const configuration = await loadConfiguration({ env: HTTPS, yml: `service_codes: [${codes.join()}]` });
  assert.deepEqual(
    [...findWarnings(configuration, NOW_MS)],
    [
      'labels: expected names that targets in Kubernetes do not have, found service; series that a ServiceMonitor or PodMonitor selects will have exported_service',
    ],
  );
});
