import { setTimeout as delay } from 'node:timers/promises';
import { ADDRESS_RESPONSE, EMPTY_RESPONSE, USAGE_RESPONSE, Child } from './child.ts';
import { compare, type Comparison } from './measure.ts';
import { createExporterEnv, serveBody, type BodySize } from './served-body.ts';

/** 79 KB. */
const SIZE: BodySize = { users: 300, tasks: 20 };
/** V8 compiles a function when it has been called often. With a poll a second, that takes minutes. */
const WARM_UP_SECONDS = 240;
const MEASURED_SECONDS = 60;
const EACH_SECOND = '1000';
const NEVER = '86400000';

/**
 * Polls and scrapes a small listing once a second with an exporter and with the script that people write
 * instead, and lets an exporter and a bare Node.js process rest beside them. Warms up beside the other parts,
 * at a few hundredths of a core, and measures when they have ended.
 */
export async function benchSmall(others: Promise<unknown>): Promise<Comparison[]> {
  await using body = await serveBody(SIZE);
  const env = createExporterEnv(body.url);
  await using exporter = await Child.start('exporter', { args: [EACH_SECOND], env });
  await using script = await Child.start('script', { args: [body.url] });
  await using resting = await Child.start('exporter', { args: [NEVER], env });
  await using bare = await Child.start('bare');
  await Promise.all([others, scrapeEachSecond([exporter, script], WARM_UP_SECONDS)]);
  const measured = [exporter, script, resting, bare];
  await Promise.all(measured.map((child) => child.sendCommand('begin', EMPTY_RESPONSE)));
  await scrapeEachSecond([exporter, script], MEASURED_SECONDS);
  const [ownMs = 0, scriptMs = 0, restingMs = 0, bareMs = 0] = await Promise.all(
    measured.map(getMsPerSecond),
  );
  return [
    compare(
      {
        name: `one poll and one scrape of ${(body.megabytes * 1000).toFixed(0)} KB, CPU`,
        unit: 'ms',
        value: ownMs,
        reference: 'a script with JSON.parse and prom-client',
        referenceValue: scriptMs,
      },
      { measure: 'ratio', direction: 'at most', bound: 1.75 },
    ),
    compare(
      {
        name: 'at rest, CPU in a second',
        unit: 'ms',
        value: restingMs,
        reference: 'a bare Node.js process',
        referenceValue: bareMs,
      },
      { measure: 'value', direction: 'at most', bound: 3 },
    ),
  ];
}

async function getMsPerSecond(child: Child): Promise<number> {
  return 1000 * (await child.sendCommand('end', USAGE_RESPONSE)).cpuShare;
}

/** Scrapes as Prometheus does, on one connection each. */
async function scrapeEachSecond(targets: readonly Child[], seconds: number): Promise<void> {
  const urls = await Promise.all(
    targets.map(async (target) => (await target.sendCommand('address', ADDRESS_RESPONSE)).url),
  );
  for (let second = 0; second < seconds; second += 1) {
    const due = delay(1000);
    await Promise.all(urls.map(async (url) => (await fetch(`${url}/metrics`)).arrayBuffer()));
    await due;
  }
}
