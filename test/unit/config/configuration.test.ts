import assert from 'node:assert/strict';
import { readdirSync, readFileSync } from 'node:fs';
import { delimiter } from 'node:path';
import { test } from 'node:test';
import type { Configuration } from '../../../src/config/configuration.ts';
import { listSettings, SETTINGS } from '../../../src/config/settings.ts';
import type { ConfigurationInput } from '../../support/configuration.ts';
import {
  loadConfiguration,
  catchConfigErrorMessage,
  REQUIRED_ENVIRONMENT,
  SECRET,
} from '../../support/configuration.ts';
import { readFixture } from '../../support/fixtures.ts';
import { PUBLISHED_SCHEME } from '../../support/published-scheme.ts';
import { readRepositoryFile, repositoryPath } from '../../support/repository.ts';

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
    timeoutMs: 10_000,
    maxResponseBytes: 1_073_741_824,
    maxConnections: 64,
    tls: {},
    proxy: { httpProxy: undefined, httpsProxy: undefined, noProxy: undefined },
  },
  signing: PUBLISHED_SCHEME,
  serviceCodes: [TESTING],
  shard: { index: 0, count: 1 },
  codesOnOtherShards: new Set(),
  metrics: { maxLabelSets: 2000, perTask: false, maxTasks: 1000 },
  ledger: { maxStreamRate: 12.5e6 },
  web: {
    configFile: undefined,
    listenAddresses: [{ host: undefined, port: 20_928 }],
    telemetryPath: '/metrics',
    grafanaUrl: undefined,
    maxRequests: 40,
    hasOpenProbes: false,
    isLifecycleEnabled: false,
  },
  state: undefined,
  file: undefined,
  log: { level: 'info', format: 'logfmt' },
};

test('three environment variables are enough; the rest has defaults', async () => {
  assert.deepEqual(await loadConfiguration({ env: REQUIRED_ENVIRONMENT }), DEFAULTS);
});

for (const name of ['minimal.yml', 'full.yml']) {
  test(`config/${name} has the default values`, async () => {
    const yml = readFileSync(repositoryPath(`config/${name}`), 'utf8');
    assert.deepEqual(await loadConfiguration({ yml, files: { '/run/secrets/testing': SECRET } }), {
      ...DEFAULTS,
      file: '/etc/xvs.yml',
    });
  });
}

test('config/full.yml has every key of the file, set or commented out', () => {
  const yml = readFileSync(repositoryPath('config/full.yml'), 'utf8');
  const parents: string[] = [];
  const keys = [...yml.matchAll(/^( *)(?:# )?([a-z_]+):/gm)].map(([, indent = '', key = '']) => {
    parents.splice(indent.length / 2, Infinity, key);
    return parents.join('.');
  });
  for (const [path, { excludedSource }] of listSettings())
    assert.equal(keys.includes(path), excludedSource !== 'file', path);
});

test('flags override the environment, the environment overrides the file, and the file overrides the defaults', async () => {
  const yml = 'poll: { interval: 20s, stall_after: 20s }\nweb: { max_requests: 20 }\n';
  const env = { ...REQUIRED_ENVIRONMENT, XVS_POLL_INTERVAL: '30s', XVS_POLL_STALL_AFTER: '30s' };
  const { serviceCodes, web } = await loadConfiguration({ yml, env, args: ['--poll.interval=40s'] });
  assert.deepEqual(
    [serviceCodes[0]?.intervalMs, serviceCodes[0]?.stallAfterMs, web.maxRequests],
    [40_000, 30_000, 20],
  );
});

test('empty and unknown variables are ignored', async () => {
  const env = {
    ...REQUIRED_ENVIRONMENT,
    XVS_POLL_INTERVAL: '',
    XVS_EXPORTER_SERVICE_HOST: '10.0.0.1',
    XVS_PORT: 'tcp://10.0.0.1',
  };
  assert.deepEqual(await loadConfiguration({ env }), DEFAULTS);
});

test('the file may be empty, contain only comments or empty groups, or be JSON', async () => {
  const json = JSON.stringify({ poll: { interval: '15s' }, service_codes: ['TESTING'] }, null, '\t');
  for (const yml of ['', '# nothing\n', 'poll:\n  # interval: 5s\n', json]) {
    assert.deepEqual(await loadConfiguration({ yml, env: REQUIRED_ENVIRONMENT }), {
      ...DEFAULTS,
      file: '/etc/xvs.yml',
    });
  }
});

test('numbers and booleans may be strings, and addresses a list', async () => {
  const yml = `
upstream: { max_response_size: 1024, max_connections: '8' }
metrics: { per_task: 'true' }
web: { listen_address: ['localhost:1', '[::1]:2', ':0'] }`;
  const { upstream, metrics, web } = await loadConfiguration({ yml, env: REQUIRED_ENVIRONMENT });
  assert.deepEqual([upstream.maxResponseBytes, upstream.maxConnections, metrics.perTask], [1024, 8, true]);
  assert.deepEqual(web.listenAddresses, [
    { host: 'localhost', port: 1 },
    { host: '::1', port: 2 },
    { host: undefined, port: 0 },
  ]);
});

test('a code without its own setting uses the common one', async () => {
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
    secret_file: secrets/file`;
  const { serviceCodes } = await loadConfiguration({
    yml,
    env: { ...REQUIRED_ENVIRONMENT, XVS_SERVICE_CODES: '' },
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
      staleAfterMs: 240_000,
      stallAfterMs: 120_000,
      labels: {},
    },
    { ...TESTING, serviceCode: 'FILE', secret: 'file-secret' },
  ]);
});

for (const [yml, staleAfterMs] of [
  ['poll: { interval: 5s }', 25_000],
  ['poll: { interval: 10s }', 30_000],
  ['poll: { interval: 2s }\nupstream: { timeout: 7s }', 16_000],
  ['poll: { interval: 2s, stale_after: 3s }\nupstream: { timeout: 7s }', 3000],
  ['service_codes: [{ service_code: A, interval: 2s, timeout: 7s }]', 16_000],
  ['service_codes: [{ service_code: A, timeout: 1m }]', 135_000],
] as const) {
  test(`with ${JSON.stringify(yml)}, metrics are stale after ${staleAfterMs} ms`, async () => {
    const codes = yml.startsWith('service_codes') ? '' : 'TESTING';
    const { serviceCodes } = await loadConfiguration({
      yml,
      env: { ...REQUIRED_ENVIRONMENT, XVS_SERVICE_CODES: codes },
    });
    assert.equal(serviceCodes[0]?.staleAfterMs, staleAfterMs);
  });
}

test('codes from the environment replace the list of the file and stay strings', async () => {
  const yml = 'service_codes: [{ service_code: A, secret: a }]';
  const { serviceCodes } = await loadConfiguration({
    yml,
    env: { ...REQUIRED_ENVIRONMENT, XVS_SERVICE_CODES: 'B, 1.10,007' },
  });
  assert.deepEqual(
    serviceCodes.map(({ serviceCode, secret }) => [serviceCode, secret]),
    ['B', '1.10', '007'].map((code) => [code, SECRET]),
  );
});

const SECRET_FILE_ENVIRONMENT = { ...REQUIRED_ENVIRONMENT, XVS_SECRET: '', XVS_SECRET_FILE: 'secret' };

test('one trailing newline of a secret file is ignored', async () => {
  for (const [text, secret] of [
    ['a b', 'a b'],
    ['a\n', 'a'],
    ['a\r\n', 'a'],
  ] as const) {
    const configuration = await loadConfiguration({ env: SECRET_FILE_ENVIRONMENT, files: { secret: text } });
    assert.equal(configuration.serviceCodes[0]?.secret, secret);
  }
});

for (const [name, text, found] of [
  ['a byte order mark', `\uFEFF${SECRET}\n`, /byte order mark; save the file as UTF-8 without BOM$/],
  ['a blank before it', ` ${SECRET}\n`, /with blanks around it; remove them$/],
  ['a blank after it', `${SECRET}\t\n`, /with blanks around it; remove them$/],
  ['a second newline', `${SECRET}\n\n`, /with a line feed; keep one line/],
  ['two lines', `${SECRET}\nb\n`, /with a line feed; keep one line/],
  ['bytes that are no text', `${SECRET}\uFFFD`, /that is not UTF-8; save the file as UTF-8$/],
  ['5,000 characters', SECRET.repeat(300), /at most 4096 characters .* found a longer one; check/],
] as const) {
  test(`a secret with ${name} is rejected with a hint, in a file and elsewhere`, async () => {
    const elsewhere = text.replace(/\n$/, '');
    for (const input of [
      { env: SECRET_FILE_ENVIRONMENT, files: { secret: text } },
      { env: { ...REQUIRED_ENVIRONMENT, XVS_SECRET: elsewhere } },
      { env: REQUIRED_ENVIRONMENT, yml: `secret: ${JSON.stringify(elsewhere)}` },
    ]) {
      const message = await catchConfigErrorMessage(() => loadConfiguration(input));
      assert.match(message, found);
      assert.ok(!message.includes(SECRET));
    }
  });
}

test('paths in the file are relative to its folder, paths in variables and flags are not', async () => {
  const yml = 'upstream: { ca_file: ca.pem, cert_file: /tls/cert.pem }';
  const cert = readFixture('tls/client.pem').toString();
  const key = readFixture('tls/client.key').toString();
  const files = { '/etc/ca.pem': cert, '/tls/cert.pem': cert, 'key.pem': key };
  const { upstream } = await loadConfiguration({
    yml,
    files,
    env: REQUIRED_ENVIRONMENT,
    args: ['--upstream.key-file=key.pem'],
  });
  assert.deepEqual(upstream.tls, { ca: cert, cert, key });
});

test('the path of the state is relative to the folder of the file, and need not exist', async () => {
  const pathOf = async (given: ConfigurationInput): Promise<string | undefined> =>
    (await loadConfiguration({ env: REQUIRED_ENVIRONMENT, ...given })).state?.path;
  assert.equal(await pathOf({ yml: 'state: { path: kept/state }' }), '/etc/kept/state');
  assert.equal(await pathOf({ yml: 'state: { path: /var/lib/state }' }), '/var/lib/state');
  assert.equal(await pathOf({ args: ['--state.path=state'] }), 'state');
});

const GIVEN = { STATE_DIRECTORY: ['/var/lib/one', '/var/lib/two'].join(delimiter) };
const WRITTEN = 'state: { path: /written }';

for (const [name, given, state] of [
  ['the first folder of STATE_DIRECTORY', { env: GIVEN }, { path: '/var/lib/one', isDefault: true }],
  ['none without a folder in it', { env: { STATE_DIRECTORY: '' } }, undefined],
  ['that of the file, if it has one', { yml: WRITTEN, env: GIVEN }, { path: '/written', isDefault: false }],
  [
    'that of the file, also if it is the same',
    { yml: 'state: { path: /var/lib/one }', env: GIVEN },
    { path: '/var/lib/one', isDefault: false },
  ],
  [
    'that of the variable, if it is set',
    { yml: WRITTEN, env: { ...GIVEN, XVS_STATE_PATH: '/set' } },
    { path: '/set', isDefault: false },
  ],
  ['none, if the file says so', { yml: 'state: { path: none }', env: GIVEN }, undefined],
  ['none, if the variable says so', { yml: WRITTEN, env: { XVS_STATE_PATH: 'none' } }, undefined],
  ['none, if the flag says so', { yml: WRITTEN, args: ['--state.path=none'] }, undefined],
  ['a folder of the name none', { args: ['--state.path=./none'] }, { path: './none', isDefault: false }],
] as const satisfies readonly (readonly [string, ConfigurationInput, Configuration['state']])[])
  test(`the state is ${name}`, async () => {
    const env = { ...REQUIRED_ENVIRONMENT, ...given.env };
    assert.deepEqual((await loadConfiguration({ ...given, env })).state, state);
  });

test('proxy variables in lower case win, and the default scheme is http', async () => {
  const env = {
    ...REQUIRED_ENVIRONMENT,
    http_proxy: 'user:p%40ss@proxy.example.com:3128',
    HTTP_PROXY: 'http://other.example.com',
    https_proxy: '',
    HTTPS_PROXY: 'http://user:password@proxy.example.com:3129',
    NO_PROXY: 'localhost,.example.com',
  };
  assert.deepEqual((await loadConfiguration({ env })).upstream.proxy, {
    httpProxy: 'http://user:p%40ss@proxy.example.com:3128',
    httpsProxy: 'http://user:password@proxy.example.com:3129',
    noProxy: 'localhost,.example.com',
  });
});

const mistakes: readonly (readonly [name: string, given: ConfigurationInput, message: string])[] = [
  [
    'an invalid flag',
    { env: REQUIRED_ENVIRONMENT, args: ['--web.telemetry-path=', '--log.level=loud'] },
    'flag --web.telemetry-path: expected a path such as /metrics, found ""\n' +
      'flag --log.level: expected one of debug, info, warn, error, found "loud"',
  ],
  [
    'an invalid value that a flag overrides',
    { env: { ...REQUIRED_ENVIRONMENT, XVS_POLL_INTERVAL: 'abc' }, args: ['--poll.interval=5s'] },
    'environment variable XVS_POLL_INTERVAL: expected a duration such as 15s, found "abc"',
  ],
  [
    'an invalid entry of a list',
    { env: REQUIRED_ENVIRONMENT, args: ['--web.listen-address=:1', '--web.listen-address=localhost'] },
    'flag --web.listen-address, entry 2: expected an address such as :20928, localhost:20928, [::1]:20928 or unix:/run/xvs/exporter.sock, found "localhost"',
  ],
  [
    'a code with spaces around it',
    { env: { ...REQUIRED_ENVIRONMENT, XVS_SERVICE_CODES: '' }, yml: 'service_codes: [" TESTING"]' },
    '/etc/xvs.yml:1:17 service_codes[0].service_code: expected a service code (1 to 128 characters; put digits in quotes), found " TESTING"; remove the surrounding spaces',
  ],
  [
    'a configuration file with another read error, and an invalid flag',
    {
      env: REQUIRED_ENVIRONMENT,
      args: ['--config.file=/x', '--poll.interval=0'],
      files: { '/x': { code: 'EIO' } },
    },
    'flag --config.file: expected a readable file, found "/x", which cannot be read\n' +
      'flag --poll.interval: expected a duration such as 15s, found "0"; add a unit',
  ],
  [
    'a proxy without a host',
    { env: { ...REQUIRED_ENVIRONMENT, HTTPS_PROXY: `http://user:${SECRET}@` } },
    'environment variable HTTPS_PROXY: expected a proxy such as http://proxy.example.com:3128, found one with "@" (not shown)',
  ],
];

for (const [name, given, expected] of mistakes) {
  test(`rejected: ${name}`, async () => {
    const message = await catchConfigErrorMessage(() => loadConfiguration(given));
    assert.equal(message, expected);
    assert.ok(!message.includes(SECRET));
  });
}

test('the source reads each setting', () => {
  const paths = readdirSync(repositoryPath('src'), { recursive: true, encoding: 'utf8' });
  const source = paths
    .filter((path) => path.endsWith('.ts') && path !== 'config/settings.ts')
    .map((path) => readRepositoryFile(`src/${path}`).replaceAll(/\/\*[^]*?\*\/|(?<=^|\s)\/\/.*/g, ''))
    .join('');
  assert.deepEqual(
    Object.keys(SETTINGS).filter((path) => !source.includes(`'${path}'`)),
    [],
  );
});
