import { test } from 'node:test';
import fc from 'fast-check';
import { stringify } from 'yaml';
import { ConfigError } from '../../../src/config/config-error.ts';
import { SERVICE_CODE_KEYS } from '../../../src/config/service-codes/schema.ts';
import { listSettings } from '../../../src/config/settings.ts';
import { loadConfiguration, REQUIRED_ENVIRONMENT, SECRET } from '../../support/configuration.ts';
import { createRunParameters } from '../../support/run-parameters.ts';

/** Loads a file and returns the message of its ConfigError; empty for a valid file. Rethrows any other error. */
async function loadErrorOf(yml: string): Promise<string> {
  try {
    await loadConfiguration({ yml, env: REQUIRED_ENVIRONMENT });
    return '';
  } catch (error) {
    if (error instanceof ConfigError) return error.message;
    throw error;
  }
}

test('any text gives a configuration or a ConfigError', async () => {
  const line = fc.string({ unit: fc.constantFrom(...':-?{}[],&*!|>\'"%@` #\t\nabx10') });
  await fc.assert(fc.asyncProperty(line, async (text) => (await loadErrorOf(text)) !== undefined));
});

test('any value of any setting is accepted or rejected, and the message names the setting', async () => {
  const settings = listSettings().filter(([, { excludedSource }]) => excludedSource !== 'file');
  const path = fc.constantFrom(...settings.map(([name]) => name));
  await fc.assert(
    fc.asyncProperty(path, fc.jsonValue(), async (name, value) => {
      const nested = name.split('.').reduceRight<unknown>((inner, step) => ({ [step]: inner }), value);
      const message = await loadErrorOf(stringify(nested));
      return message === '' || message.includes(name);
    }),
  );
});

test('any value of any key of a service code is accepted or rejected', async () => {
  const key = fc.constantFrom(...Object.keys(SERVICE_CODE_KEYS));
  await fc.assert(
    fc.asyncProperty(key, fc.jsonValue(), async (name, value) => {
      const yml = stringify({ service_codes: [{ service_code: 'A', [name]: value }] });
      return (await loadErrorOf(yml)) !== undefined;
    }),
  );
});

test('no message shows a misquoted secret', async () => {
  const around = fc.string({ unit: fc.constantFrom(...':-?{}[],&*!|>\'"%@` #\\\t') });
  await fc.assert(
    fc.asyncProperty(around, around, fc.boolean(), async (before, after, ofCode) => {
      const key = ofCode ? 'service_codes:\n  - service_code: A\n    secret' : 'poll: {}\nsecret';
      const message = await loadErrorOf(`${key}: ${before}${SECRET}${after}\n`);
      return !message.includes(SECRET);
    }),
    createRunParameters(500),
  );
});
