import { setTimeout as delay } from 'node:timers/promises';
import { systemClock } from '../../../src/runtime/clock.ts';
import { buildListingAddress } from '../../../src/upstream/signing.ts';
import { signRequest } from '../../../src/upstream/signing.ts';
import { discard } from '../discard.ts';
import { serveCommands, createUsageHandlers } from './command-server.ts';
import { readConfiguration } from './exporter-dependencies.ts';

/** Requests every listing as often as the exporter does, signed, and discards it. */
async function run(): Promise<void> {
  const { serviceCodes, signing } = await readConfiguration();
  serveCommands(createUsageHandlers());
  await Promise.all(
    serviceCodes.map(async ({ serviceCode, baseUrl, secret, intervalMs }, index) => {
      const address = buildListingAddress(baseUrl, serviceCode);
      await delay((index * intervalMs) / serviceCodes.length);
      setInterval(() => {
        const signed = signRequest(signing, secret, address, systemClock.now());
        // An error ends this process: a failed request costs less.
        void discard(address.url, { 'accept-encoding': 'gzip', ...signed });
      }, intervalMs);
    }),
  );
}

await run();
