import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { readTlsServerOptions } from '../../../src/web/security/tls-options.ts';
import { catchConfigErrorMessage, loadConfiguration, SECRET } from '../../support/configuration.ts';
import { MAX_COST_RATIO, measureCostRatio } from '../../support/cost-ratio.ts';
import { readFixture } from '../../support/fixtures.ts';
import { createRunParameters } from '../../support/run-parameters.ts';

/** Long enough for the fast way of reading JSON. */
const FILE_LENGTH = 70_000;

const repeatTo = (length: number, piece: string): string =>
  piece.repeat(Math.ceil(length / piece.length)).slice(0, length);

const repeated = (maxLength: number, ...pieces: readonly string[]): fc.Arbitrary<string> =>
  fc
    .tuple(
      fc.constantFrom(1, 20, 128, 512, 4096, maxLength),
      fc.array(fc.constantFrom(...pieces), { minLength: 1, maxLength: 4 }),
    )
    .map(([length, chosen]) => repeatTo(Math.min(length, maxLength), chosen.join('')));

/** Loads a configuration with a file of service codes, whether it is valid or not. */
async function load(text: string): Promise<void> {
  const configuration = loadConfiguration({
    env: { XVS_UPSTREAM_BASE_URL: 'https://live.example.com', XVS_SECRET: SECRET },
    yml: 'service_code_files: [codes.json]\n',
    files: { '/etc/codes.json': text },
  });
  await configuration.catch(() => catchConfigErrorMessage(() => configuration));
}

/** As many entries as fit the file. */
function buildCodes(createEntry: (index: number) => object): string {
  const entryLength = JSON.stringify(createEntry(1000)).length + 1;
  const count = Math.max(1, Math.floor(FILE_LENGTH / entryLength));
  const codes = JSON.stringify(Array.from({ length: count }, (_, index) => createEntry(1000 + index)));
  return `${codes.slice(0, -1).padEnd(FILE_LENGTH)}]`;
}

const ordinaryCodes = buildCodes((index) => ({
  service_code: `ACME-${index}`,
  task_name: 'opaque.room',
  interval: '10s',
  expect: { names: [`main-${index}`, { name: `backup-${index}`, min_input_rate: '2Mbit/s' }] },
  labels: { tenant: 'acme' },
}));

/** Keys of an entry with a text of any kind. */
const FIELDS: Readonly<Record<string, (text: string) => object>> = {
  service_code: (text) => ({ service_code: text }),
  secret: (secret) => ({ secret }),
  base_url: (text) => ({ base_url: `https://${text}` }),
  interval: (interval) => ({ interval }),
  task_name: (text) => ({ task_name: `opaque.${text}` }),
  name: (name) => ({ task_name: 'opaque', expect: { names: [name] } }),
  rate: (text) => ({ expect: { names: [{ name: 'main', min_input_rate: text }] } }),
  label: (text) => ({ labels: { [text]: 'x' } }),
  label_value: (tenant) => ({ labels: { tenant } }),
  key: (text) => ({ [text]: 1 }),
};

const PIECES = [
  ['a', '1', '.', '-', ' ', '\u0301', '\u0316', '\u00fc', '\u1112', '\u200b', '%', '/', ':', '@', '[', '$'],
  ['__', '0s', 'Mbit/s', 'xn--', '\ud800', '\n', 'interval'],
].flat();

const arbitraryField = fc.record({
  field: fc.constantFrom(...Object.keys(FIELDS)),
  text: repeated(FILE_LENGTH, ...PIECES),
});

/** Took seconds before names had a limit. */
const KNOWN = Object.keys(FIELDS).map((field) => ({ field, text: `a${'\u0301\u0316'.repeat(10_000)}` }));

test(`any file of service codes costs at most ${MAX_COST_RATIO} times an ordinary one of its size`, async () => {
  const check = async ({ field, text }: { readonly field: string; readonly text: string }): Promise<void> => {
    const codes = buildCodes((index) => ({ service_code: `A${index}`, ...FIELDS[field]?.(text) }));
    const ratio = await measureCostRatio(
      () => load(codes),
      () => load(ordinaryCodes),
    );
    assert.ok(ratio <= MAX_COST_RATIO, `${ratio.toFixed(1)} times with ${field}`);
  };
  for (const known of KNOWN) await check(known);
  await fc.assert(fc.asyncProperty(arbitraryField, check), createRunParameters(40));
});

const certificate = readFixture('tls/ca.pem').toString();
const PEM_LENGTH = 200_000;

async function readClientCa(text: string): Promise<void> {
  const files: Readonly<Record<string, string>> = {
    '/server.pem': readFixture('tls/server.pem').toString(),
    '/server.key': readFixture('tls/server.key').toString(),
    '/ca.pem': text,
  };
  const section = {
    cert_file: 'server.pem',
    key_file: 'server.key',
    client_ca_file: 'ca.pem',
    client_auth_type: { isRequested: true, isRequired: true, isVerified: true },
    min_version: 'TLSv1.2',
  } as const;
  const options = readTlsServerOptions(
    section,
    () => 'web.yml',
    '/',
    (path) => Promise.resolve(files[path] ?? ''),
  );
  await options.catch(() => catchConfigErrorMessage(() => options));
}

test(`any file of certificates costs at most ${MAX_COST_RATIO} times an ordinary one of its size`, async () => {
  // As `openssl ca` writes them.
  const described = `${repeatTo(3000, '        X509v3 Basic Constraints: critical\n')}\n${certificate}`;
  const ordinary = described.repeat(PEM_LENGTH / described.length);
  const check = async (text: string): Promise<void> => {
    const ratio = await measureCostRatio(
      () => readClientCa(certificate + text),
      () => readClientCa(ordinary),
    );
    assert.ok(ratio <= MAX_COST_RATIO, `${ratio.toFixed(1)} times`);
  };
  for (const piece of ['-----BEGIN A B CERTIFICATE-----\n', '-----BEGIN CERTIFICATE-----\n', '-----BEGIN '])
    await check(repeatTo(PEM_LENGTH, piece));
  const pieces = ['-----BEGIN ', 'CERTIFICATE', '-----', 'A ', '\n', 'MII', '-----END ', '\ufeff', '#', ' '];
  await fc.assert(fc.asyncProperty(repeated(PEM_LENGTH, ...pieces), check), createRunParameters(20));
});
