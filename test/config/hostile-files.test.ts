import { test } from 'node:test';
import fc from 'fast-check';
import { stringify } from 'yaml';
import { ConfigError } from '../../src/config/problem.ts';
import { SERVICE_CODE_KEYS } from '../../src/config/service-codes.ts';
import { settingEntries } from '../../src/config/settings.ts';
import { load, NEEDED, SECRET } from '../support/configuration.ts';

/** The message that a file is refused with; empty for one that is accepted. Any other error gets out. */
async function refusalOf(yml: string): Promise<string> {
  try {
    await load({ yml, env: NEEDED });
    return '';
  } catch (error) {
    if (error instanceof ConfigError) return error.message;
    throw error;
  }
}

test('any text is a configuration or a ConfigError', async () => {
  const line = fc.string({ unit: fc.constantFrom(...':-?{}[],&*!|>\'"%@` #\t\nabx10') });
  await fc.assert(fc.asyncProperty(line, async (text) => (await refusalOf(text)) !== undefined));
});

test('any value of any setting is accepted or refused, and the refusal names the setting', async () => {
  const settings = settingEntries().filter(([, { notFrom }]) => notFrom !== 'file');
  const path = fc.constantFrom(...settings.map(([name]) => name));
  await fc.assert(
    fc.asyncProperty(path, fc.jsonValue(), async (name, value) => {
      const nested = name.split('.').reduceRight<unknown>((inner, step) => ({ [step]: inner }), value);
      const message = await refusalOf(stringify(nested));
      return message === '' || message.includes(name);
    }),
  );
});

test('any value of any key of a service code is accepted or refused', async () => {
  const key = fc.constantFrom(...Object.keys(SERVICE_CODE_KEYS));
  await fc.assert(
    fc.asyncProperty(key, fc.jsonValue(), async (name, value) => {
      const yml = stringify({ service_codes: [{ service_code: 'A', [name]: value }] });
      return (await refusalOf(yml)) !== undefined;
    }),
  );
});

test('however a secret is misquoted, no message shows it', async () => {
  const around = fc.string({ unit: fc.constantFrom(...':-?{}[],&*!|>\'"%@` #\\\t') });
  await fc.assert(
    fc.asyncProperty(around, around, fc.boolean(), async (before, after, ofCode) => {
      const key = ofCode ? 'service_codes:\n  - service_code: A\n    secret' : 'poll: {}\nsecret';
      const message = await refusalOf(`${key}: ${before}${SECRET}${after}\n`);
      return !message.includes(SECRET);
    }),
    { numRuns: 500 },
  );
});
