import assert from 'node:assert/strict';
import { test } from 'node:test';
import { startSimulator } from '../../../src/simulator/server.ts';
import { createWorld } from '../../../src/simulator/world.ts';
import { ManualClock } from '../../support/manual-clock.ts';
import { requestTaskList, waitForResponse } from '../../unit/simulator/client.ts';

const nowMs = Date.UTC(2026, 0, 1);
const credentials = { serviceCode: 'TESTING', secret: 'abc', timestampMs: nowMs };

function measureMemoryBytes(): number {
  const { heapUsed, external } = process.memoryUsage();
  return heapUsed + external;
}

for (const [encoding, minBytes] of [
  ['identity', 100_000_000],
  ['gzip', 5_000_000],
] as const) {
  test(`a listing of a million users is sent in bounded memory (${encoding})`, async () => {
    await using simulator = await startSimulator({
      listenAddress: { host: '127.0.0.1', port: 0 },
      world: createWorld({ seed: 1, startedAtMs: nowMs, users: 1_000_000, tasks: 0 }),
      secretsByServiceCode: new Map([['TESTING', 'abc']]),
      clock: new ManualClock(nowMs),
      clockToleranceMs: 0,
      isGzipEnabled: true,
    });
    const before = measureMemoryBytes();
    const response = await waitForResponse(
      requestTaskList(simulator, credentials, { 'accept-encoding': encoding }),
    );
    let bytes = 0;
    let peak = 0;
    for await (const chunk of response) {
      bytes += Buffer.isBuffer(chunk) ? chunk.length : 0;
      peak = Math.max(peak, measureMemoryBytes());
    }
    assert.ok(bytes > minBytes, `${bytes} bytes`);
    assert.ok(peak - before < 64 * 1024 * 1024, `${peak - before} bytes more`);
  });
}
