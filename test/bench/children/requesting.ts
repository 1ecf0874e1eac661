import { setTimeout as delay } from 'node:timers/promises';
import { systemClock } from '../../../src/clock.ts';
import { listingAddress } from '../../../src/upstream/address.ts';
import { signRequest } from '../../../src/upstream/signing.ts';
import { discard } from '../discard.ts';
import { answer, watchUsage } from './answering.ts';
import { readConfiguration } from './exporting.ts';

/** Requests every listing as often as the exporter does, signed, and throws each away. */
async function run(): Promise<void> {
  const { serviceCodes, signing } = await readConfiguration();
  answer(watchUsage());
  await Promise.all(
    serviceCodes.map(async ({ serviceCode, baseUrl, secret, intervalMs }, index) => {
      const address = listingAddress(baseUrl, serviceCode);
      await delay((index * intervalMs) / serviceCodes.length);
      setInterval(() => {
        const signed = signRequest(signing, secret, address, systemClock.now());
        // One that fails ends the process: what it costs would be something else.
        void discard(address.url, { 'accept-encoding': 'gzip', ...signed });
      }, intervalMs);
    }),
  );
}

await run();
