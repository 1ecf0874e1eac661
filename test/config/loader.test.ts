import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { test } from 'node:test';
import type { Configuration } from '../../src/config/configuration.ts';
import type { Case } from '../support/configuration.ts';
import { load, messageOf, NEEDED, SECRET } from '../support/configuration.ts';
import { PUBLISHED_SCHEME } from '../support/published-scheme.ts';

const TESTING = {
  serviceCode: 'TESTING',
  baseUrl: 'https://live.example.com',
  secret: SECRET,
  intervalMs: 15_000,
  timeoutMs: 10_000,
  staleAfterMs: 45_000,
  stallAfterMs: 60_000,
  labels: {},
};

const DEFAULTS: Configuration = {
  upstream: {
    connectTimeoutMs: 5000,
    headersTimeoutMs: 10_000,
    idleTimeoutMs: 5000,
    maxResponseBytes: 1_073_741_824,
    maxConnections: 64,
    tls: {},
    proxy: {},
  },
  signing: PUBLISHED_SCHEME,
  serviceCodes: [TESTING],
  poll: { mode: 'interval', minAgeMs: 5000 },
  shard: { index: 0, count: 1 },
  elsewhere: new Set(),
  metrics: { maxLabelSets: 1000, perTask: false, maxTasks: 1000 },
  web: {
    listenAddresses: [{ host: undefined, port: 20_928 }],
    telemetryPath: '/metrics',
    maxRequests: 40,
    maxConnections: 512,
    opensProbes: false,
    enableLifecycle: false,
  },
  state: { file: undefined, intervalMs: 60_000 },
  log: { level: 'info', format: 'auto' },
};

test('three environment variables are enough; the rest has defaults', async () => {
  assert.deepEqual(await load({ env: NEEDED }), DEFAULTS);
});

for (const name of ['minimal.yml', 'full.yml']) {
  test(`config/${name} holds the defaults`, async () => {
    const yml = readFileSync(new URL(`../../../config/${name}`, import.meta.url), 'utf8');
    assert.deepEqual(await load({ yml, files: { '/run/secrets/testing': SECRET } }), DEFAULTS);
  });
}

test('config/full.yml has every key of the file, set or commented out', async () => {
  const yml = readFileSync(new URL('../../../config/full.yml', import.meta.url), 'utf8');
  const { settingEntries } = await import('../../src/config/settings.ts');
  for (const [path, { notFrom }] of settingEntries()) {
    const steps = path.split('.');
    const key = steps.pop() ?? path;
    const text = steps.reduce<string | undefined>(
      (part, section, depth) => sectionOf(part, section, depth),
      yml,
    );
    assert.equal(new RegExp(`^ *(# )?${key}:`, 'm').test(text ?? ''), notFrom !== 'file', path);
  }
});

test('a flag wins over the environment, that over the file, that over the default', async () => {
  const yml = 'poll: { interval: 20s, stall_after: 20s }\nweb: { max_requests: 20 }\n';
  const env = { ...NEEDED, XVS_POLL_INTERVAL: '30s', XVS_POLL_STALL_AFTER: '30s' };
  const { serviceCodes, web } = await load({ yml, env, args: ['--poll.interval=40s'] });
  assert.deepEqual(
    [serviceCodes[0]?.intervalMs, serviceCodes[0]?.stallAfterMs, web.maxRequests],
    [40_000, 30_000, 20],
  );
});

test('a variable that is empty, or unknown, counts as not set', async () => {
  const env = {
    ...NEEDED,
    XVS_POLL_INTERVAL: '',
    XVS_EXPORTER_SERVICE_HOST: '10.0.0.1',
    XVS_PORT: 'tcp://10.0.0.1',
  };
  assert.deepEqual(await load({ env }), DEFAULTS);
});

test('the file may be empty, hold comments alone, have empty groups, or be JSON', async () => {
  const json = JSON.stringify({ poll: { interval: '15s' }, service_codes: ['TESTING'] }, null, '\t');
  for (const yml of ['', '# nothing\n', 'poll:\n  # interval: 5s\n', json]) {
    assert.deepEqual(await load({ yml, env: NEEDED }), DEFAULTS);
  }
});

test('the file may be named by XVS_CONFIG_FILE', async () => {
  const env = { ...NEEDED, XVS_CONFIG_FILE: 'xvs.yml' };
  const { log } = await load({ env, files: { 'xvs.yml': 'log: { level: debug }' } });
  assert.equal(log.level, 'debug');
});

test('numbers and on-off settings may be written as text, and addresses as a list', async () => {
  const yml = `
upstream: { max_response_size: 1024, max_connections: '8' }
metrics: { per_task: 'true' }
web: { listen_address: ['localhost:1', '[::1]:2', ':0'] }`;
  const { upstream, metrics, web } = await load({ yml, env: NEEDED });
  assert.deepEqual([upstream.maxResponseBytes, upstream.maxConnections, metrics.perTask], [1024, 8, true]);
  assert.deepEqual(web.listenAddresses, [
    { host: 'localhost', port: 1 },
    { host: '::1', port: 2 },
    { host: undefined, port: 0 },
  ]);
});

test('a code takes what it does not set from the settings for all', async () => {
  const yml = `
service_codes:
  - PLAIN
  - service_code: OWN
    secret: own-secret
    base_url: http://10.0.0.1:8080/live/
    interval: 1m
    timeout: 90s
    stall_after: 2m
  - service_code: FILE
    secret_file: secrets/file
    stale_after: 5m`;
  const { serviceCodes } = await load({
    yml,
    env: { ...NEEDED, XVS_SERVICE_CODES: '' },
    files: { '/etc/secrets/file': 'file-secret\n' },
  });
  assert.deepEqual(serviceCodes, [
    { ...TESTING, serviceCode: 'PLAIN' },
    {
      serviceCode: 'OWN',
      baseUrl: 'http://10.0.0.1:8080/live',
      secret: 'own-secret',
      intervalMs: 60_000,
      timeoutMs: 90_000,
      staleAfterMs: 180_000,
      stallAfterMs: 120_000,
      labels: {},
    },
    { ...TESTING, serviceCode: 'FILE', secret: 'file-secret', staleAfterMs: 300_000 },
  ]);
});

test('codes from the environment replace the list of the file, and stay text', async () => {
  const yml = 'service_codes: [{ service_code: A, secret: a }]';
  const { serviceCodes } = await load({ yml, env: { ...NEEDED, XVS_SERVICE_CODES: 'B, 1.10,007' } });
  assert.deepEqual(
    serviceCodes.map(({ serviceCode, secret }) => [serviceCode, secret]),
    ['B', '1.10', '007'].map((code) => [code, SECRET]),
  );
});

test('a secret file loses one newline at its end, nothing else', async () => {
  const env = { ...NEEDED, XVS_SECRET: '', XVS_SECRET_FILE: 'secret' };
  for (const [text, secret] of [
    [' a b ', ' a b '],
    ['a\n', 'a'],
    ['a\r\n', 'a'],
    ['a\n\n', 'a\n'],
    ['a\nb', 'a\nb'],
  ] as const) {
    assert.equal((await load({ env, files: { secret: text } })).serviceCodes[0]?.secret, secret);
  }
});

test('paths in the file are relative to its folder, those of variables and flags are not', async () => {
  const yml = 'upstream: { ca_file: ca.pem, cert_file: /tls/cert.pem }';
  const cert = '-----BEGIN CERTIFICATE-----\n';
  const key = '-----BEGIN EC PRIVATE KEY-----\n';
  const files = { '/etc/ca.pem': cert, '/tls/cert.pem': cert, 'key.pem': key };
  const { upstream } = await load({ yml, files, env: NEEDED, args: ['--upstream.key-file=key.pem'] });
  assert.deepEqual(upstream.tls, { ca: cert, cert, key });
});

test('so is the path of the state file, which need not exist yet', async () => {
  const fileOf = async (given: Case): Promise<string | undefined> =>
    (await load({ env: NEEDED, ...given })).state.file;
  assert.equal(await fileOf({ yml: 'state: { file: kept/state }' }), '/etc/kept/state');
  assert.equal(await fileOf({ yml: 'state: { file: /var/lib/state }' }), '/var/lib/state');
  assert.equal(await fileOf({ args: ['--state.file=state'] }), 'state');
});

test('of the variables for proxies, lower case wins; without a scheme, http is meant', async () => {
  const env = {
    ...NEEDED,
    http_proxy: 'proxy.example.com:3128',
    HTTP_PROXY: 'http://other.example.com',
    https_proxy: '',
    HTTPS_PROXY: 'http://user:password@proxy.example.com:3129',
    NO_PROXY: 'localhost,.example.com',
  };
  assert.deepEqual((await load({ env })).upstream.proxy, {
    httpProxy: 'http://proxy.example.com:3128',
    httpsProxy: 'http://user:password@proxy.example.com:3129',
    noProxy: 'localhost,.example.com',
  });
});

const mistakes: readonly (readonly [name: string, given: Case, message: string])[] = [
  [
    'a variable that does not parse',
    { env: { ...NEEDED, XVS_POLL_INTERVAL: 'abc' } },
    'environment variable XVS_POLL_INTERVAL: expected a duration such as 15s, found "abc"',
  ],
  [
    'a flag that does not parse',
    { env: NEEDED, args: ['--web.telemetry-path=', '--log.level=loud'] },
    'flag --web.telemetry-path: expected a path such as /metrics, found ""\n' +
      'flag --log.level: expected one of debug, info, warn, error, found "loud"',
  ],
  [
    'a bad value that a flag overrides',
    { env: { ...NEEDED, XVS_POLL_INTERVAL: 'abc' }, args: ['--poll.interval=5s'] },
    'environment variable XVS_POLL_INTERVAL: expected a duration such as 15s, found "abc"',
  ],
  [
    'an entry of a list',
    { env: NEEDED, args: ['--web.listen-address=:1', '--web.listen-address=localhost'] },
    'flag --web.listen-address, entry 2: expected an address such as :20928, localhost:20928 or [::1]:20928, found "localhost"',
  ],
  [
    'an empty code',
    { env: { ...NEEDED, XVS_SERVICE_CODES: 'A,,B' } },
    'environment variable XVS_SERVICE_CODES, entry 2: expected a service code (1 to 128 characters; put digits in quotes), found ""',
  ],
  [
    'a code with spaces around it',
    { env: { ...NEEDED, XVS_SERVICE_CODES: '' }, yml: 'service_codes: [" TESTING"]' },
    '/etc/xvs.yml:1:17 service_codes[0].service_code: expected a service code (1 to 128 characters; put digits in quotes), found " TESTING"; take the spaces around it away',
  ],
  [
    'a code twice',
    { env: { ...NEEDED, XVS_SERVICE_CODES: 'A,B,A' } },
    'environment variable XVS_SERVICE_CODES, entry 3: expected each service code once, found "A" again, which is also at environment variable XVS_SERVICE_CODES, entry 1',
  ],
  [
    'nothing at all',
    {},
    'service_codes: expected at least one service code, found none; set service_codes in the file, XVS_SERVICE_CODES or --service-codes',
  ],
  [
    'codes alone',
    { args: ['--service-codes=A'] },
    'upstream.base_url: expected the address of the service, found none; set upstream.base_url in the file, XVS_UPSTREAM_BASE_URL or --upstream.base-url\n' +
      `flag --service-codes, entry 1: expected a secret for service code "A", found none; set the code's secret or secret_file, or XVS_SECRET or XVS_SECRET_FILE for every code without`,
  ],
  [
    'a secret and a file with it',
    { env: { ...NEEDED, XVS_SECRET_FILE: 'secret' }, files: { secret: SECRET } },
    'environment variable XVS_SECRET_FILE: expected either a secret or a file with it, found both; the secret is at environment variable XVS_SECRET',
  ],
  [
    'a secret file that is empty',
    { env: { ...NEEDED, XVS_SECRET: '' }, args: ['--secret-file=secret'], files: { secret: '' } },
    'flag --secret-file: expected a file that holds a secret, found "secret", which is empty',
  ],
  [
    'a configuration file that is missing',
    { env: NEEDED, args: ['--config.file=none.yml'] },
    'flag --config.file: expected a readable file, found "none.yml", which does not exist',
  ],
  [
    'a configuration file that is a directory',
    { env: { ...NEEDED, XVS_CONFIG_FILE: '/etc' }, files: { '/etc': { code: 'EISDIR' } } },
    'environment variable XVS_CONFIG_FILE: expected a readable file, found "/etc", which is a directory',
  ],
  [
    'a configuration file that fails otherwise, and a bad flag',
    { env: NEEDED, args: ['--config.file=x', '--poll.interval=0'], files: { x: { code: 'EIO' } } },
    'flag --config.file: expected a readable file, found "x", which cannot be read\n' +
      'flag --poll.interval: expected a duration from 1s to 24d, found "0"',
  ],
  [
    'a configuration file without a name',
    { env: NEEDED, args: ['--config.file='] },
    'flag --config.file: expected the path of a file, found ""',
  ],
  [
    'a URL with credentials',
    { env: { ...NEEDED, XVS_UPSTREAM_BASE_URL: `https://user:${SECRET}@live.example.com` } },
    'environment variable XVS_UPSTREAM_BASE_URL: expected an http or https URL such as https://live.example.com, without user and password, found one with "@" (not shown)',
  ],
  [
    'a proxy that is none',
    { env: { ...NEEDED, HTTPS_PROXY: `socks5://user:${SECRET}@proxy.example.com` } },
    'environment variable HTTPS_PROXY: expected a proxy such as http://proxy.example.com:3128, found a text (not shown)',
  ],
];

for (const [name, given, expected] of mistakes) {
  test(`refused: ${name}`, async () => {
    const message = await messageOf(() => load(given));
    assert.equal(message, expected);
    assert.ok(!message.includes(SECRET));
  });
}

/** The lines of a section of a YAML text, without the ones that follow it; `depth` sections stand around it. */
function sectionOf(yml: string | undefined, section: string, depth: number): string | undefined {
  const indent = '  '.repeat(depth);
  return new RegExp(`^${indent}${section}:\n((?:${indent}[ #].*\n)*)`, 'm').exec(yml ?? '')?.[1];
}
