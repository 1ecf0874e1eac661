import assert from 'node:assert/strict';
import { test } from 'node:test';
import { acceptsGzip, negotiateFormat } from '../../../src/web/http-messages.ts';

const TEXT = 'text/plain; version=0.0.4; charset=utf-8';
const OPENMETRICS = 'application/openmetrics-text; version=1.0.0; charset=utf-8';
const OM = 'application/openmetrics-text';

const ACCEPT: readonly (readonly [string, string | undefined, string])[] = [
  ['no header', undefined, TEXT],
  ['an empty header', '', TEXT],
  [
    'Prometheus 2.55 that prefers protobuf',
    `application/vnd.google.protobuf;proto=io.prometheus.client.MetricFamily;encoding=delimited;q=0.6,${OM};version=1.0.0;q=0.5,${OM};version=0.0.1;q=0.4,text/plain;version=0.0.4;q=0.3,*/*;q=0.2`,
    OPENMETRICS,
  ],
  [
    'Prometheus 3',
    `${OM};version=1.0.0;escaping=allow-utf-8;q=0.6,${OM};version=0.0.1;q=0.5,text/plain;version=1.0.0;escaping=allow-utf-8;q=0.4,text/plain;version=0.0.4;q=0.3,*/*;q=0.2`,
    `${OPENMETRICS}; escaping=allow-utf-8`,
  ],
  ['Prometheus 3 configured for text', 'text/plain;version=0.0.4;q=0.6,*/*;q=0.5', TEXT],
  ['curl', '*/*', TEXT],
  ['Firefox', 'text/html,application/xhtml+xml,application/xml;q=0.9,image/avif,image/webp,*/*;q=0.8', TEXT],
  ['OpenMetrics without a version', OM, OPENMETRICS],
  ['text 1.0.0 before OpenMetrics', `text/plain;version=1.0.0,${OM};q=0.1`, OPENMETRICS],
  ['text with an escaping scheme', 'text/plain;version=0.0.4;escaping=values', `${TEXT}; escaping=values`],
  ['an unknown escaping scheme', `${OM};version=1.0.0;escaping=%0d%0a`, TEXT],
  ['both at equal quality', `${OM},text/plain;version=0.0.4`, TEXT],
  ['any application', 'application/*', OPENMETRICS],
  ['anything but text', 'text/plain;q=0,*/*;q=0.1', OPENMETRICS],
  ['a client that accepts nothing', '*/*;q=0', TEXT],
  ['a malformed header', '\u0000(}{)', TEXT],
  ['a header above 1024 characters', `${OM},${'a/b,'.repeat(256)}`, TEXT],
];

for (const [client, accept, contentType] of ACCEPT) {
  test(`${client} gets ${contentType}`, () => {
    const format = contentType.startsWith('text') ? 'text' : 'openmetrics';
    assert.deepEqual(negotiateFormat(accept), { format, contentType });
  });
}

const GZIP: readonly (readonly [string | undefined, boolean])[] = [
  [undefined, false],
  ['gzip', true],
  ['gzip, deflate, br, zstd', true],
  ['gzip;q=0', false],
  ['*', true],
  ['identity;q=1, gzip;q=0.5', false],
  ['identity, gzip', false],
  ['identity;q=0, *', true],
];

for (const [acceptEncoding, expected] of GZIP) {
  test(`Accept-Encoding: ${acceptEncoding ?? '(none)'} ${expected ? 'accepts' : 'does not accept'} gzip`, () => {
    assert.equal(acceptsGzip(acceptEncoding), expected);
  });
}
