import assert from 'node:assert/strict';
import { test } from 'node:test';
import * as fc from 'fast-check';
import { acceptsGzip, negotiateFormat } from '../../../src/web/content-negotiation.ts';
import { arbitraryText } from '../../support/arbitrary-text.ts';

const TEXT = 'text/plain; version=0.0.4; charset=utf-8';
const OPENMETRICS = 'application/openmetrics-text; version=1.0.0; charset=utf-8';
const OM = 'application/openmetrics-text';

const ACCEPT: readonly (readonly [string, string | undefined, string])[] = [
  ['no header', undefined, TEXT],
  ['an empty header', '', TEXT],
  [
    'Prometheus 2.42',
    `${OM};version=1.0.0,${OM};version=0.0.1;q=0.75,text/plain;version=0.0.4;q=0.5,*/*;q=0.1`,
    OPENMETRICS,
  ],
  [
    'Prometheus 2.55',
    `${OM};version=1.0.0;q=0.5,${OM};version=0.0.1;q=0.4,text/plain;version=0.0.4;q=0.3,*/*;q=0.2`,
    OPENMETRICS,
  ],
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
  [
    'Prometheus 3 with the legacy scheme',
    `${OM};version=1.0.0;escaping=underscores;q=0.5,${OM};version=0.0.1;q=0.4,text/plain;version=0.0.4;q=0.3,*/*;q=0.2`,
    `${OPENMETRICS}; escaping=underscores`,
  ],
  ['Prometheus 3 configured for text', 'text/plain;version=0.0.4;q=0.6,*/*;q=0.5', TEXT],
  ['an old Prometheus', 'text/plain;version=0.0.4;q=1,*/*;q=0.1', TEXT],
  ['curl', '*/*', TEXT],
  ['Firefox', 'text/html,application/xhtml+xml,application/xml;q=0.9,image/avif,image/webp,*/*;q=0.8', TEXT],
  [
    'Chromium',
    'text/html,application/xhtml+xml,application/xml;q=0.9,image/avif,image/webp,image/apng,*/*;q=0.8,application/signed-exchange;v=b3;q=0.7',
    TEXT,
  ],
  ['OpenMetrics without a version', OM, OPENMETRICS],
  ['OpenMetrics 0.0.1 alone', `${OM};version=0.0.1`, TEXT],
  ['OpenMetrics with a quoted version', `${OM}; version="1.0.0"; charset=utf-8`, OPENMETRICS],
  ['OpenMetrics with a quoted comma before its quality', `${OM};x="a,b;q=1\\"";q=0.1,text/plain;q=0.2`, TEXT],
  ['OpenMetrics in upper case', 'Application/OpenMetrics-Text;VERSION=1.0.0;Q=0.9', OPENMETRICS],
  ['text 1.0.0 before OpenMetrics', `text/plain;version=1.0.0,${OM};q=0.1`, OPENMETRICS],
  ['text 1.0.0 alone', 'text/plain;version=1.0.0', TEXT],
  ['text without a version', 'text/plain', TEXT],
  ['text with an escaping scheme', 'text/plain;version=0.0.4;escaping=values', `${TEXT}; escaping=values`],
  ['an unknown escaping scheme', `${OM};version=1.0.0;escaping=%0d%0a`, TEXT],
  ['an escaping scheme in upper case', `${OM};escaping="DOTS"`, `${OPENMETRICS}; escaping=dots`],
  ['both at equal quality', `${OM},text/plain;version=0.0.4`, TEXT],
  ['any text and any application', 'text/*,application/*', TEXT],
  ['any application and any text', 'application/*,text/*', OPENMETRICS],
  ['any application and plain text', 'application/*,text/plain', TEXT],
  ['any application', 'application/*', OPENMETRICS],
  ['anything but text', 'text/plain;q=0,*/*;q=0.1', OPENMETRICS],
  ['anything but text of any kind', 'text/*;q=0,*/*', OPENMETRICS],
  ['anything but OpenMetrics', `${OM};q=0,*/*`, TEXT],
  ['a client that accepts nothing', '*/*;q=0', TEXT],
  ['only JSON', 'application/json', TEXT],
  ['empty elements', `, ,${OM};;q=1 , ,`, OPENMETRICS],
  ['a quality above 1', `${OM};q=1.5`, OPENMETRICS],
  ['a quality that is no number', `${OM};q=high`, TEXT],
  ['an unclosed quote', `${OM};version="1.0.0`, OPENMETRICS],
  ['a parameter without a type', `${OM},;q=1`, OPENMETRICS],
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
  ['', false],
  ['gzip', true],
  ['GZip', true],
  ['x-gzip', false],
  ['gzip, deflate, br, zstd', true],
  ['deflate, br', false],
  ['gzip;q=0', false],
  ['gzip;q=0.000', false],
  ['gzip;q=0, *', false],
  ['*', true],
  ['*;q=0', false],
  ['identity', false],
  ['identity;q=0.5, gzip;q=1.0', true],
  ['identity;q=1, gzip;q=0.5', false],
  ['identity, gzip', false],
  ['identity;q=0, *', true],
  ['gzip;q=2', true],
];

for (const [acceptEncoding, expected] of GZIP) {
  test(`Accept-Encoding: ${acceptEncoding ?? '(none)'} ${expected ? 'accepts' : 'does not accept'} gzip`, () => {
    assert.equal(acceptsGzip(acceptEncoding), expected);
  });
}

test('any header gets one of the two formats', () => {
  const pieces = [
    OM,
    'text/plain',
    '*/*',
    'text/*',
    ';',
    ',',
    '=',
    '"',
    '\\',
    'q=0.5',
    'q',
    'version=1.0.0',
    ' ',
    '\t',
    'gzip',
    '*',
  ];
  const header = fc
    .array(fc.oneof(fc.constantFrom(...pieces), arbitraryText(3)), {
      maxLength: 20,
    })
    .map((parts) => parts.join(''));
  fc.assert(
    fc.property(header, (value) => {
      const { contentType } = negotiateFormat(value);
      assert.match(
        contentType,
        /^(?:text\/plain; version=0\.0\.4|application\/openmetrics-text; version=1\.0\.0); charset=utf-8(?:; escaping=[a-z8-]+)?$/,
      );
      assert.equal(typeof acceptsGzip(value), 'boolean');
    }),
  );
});
