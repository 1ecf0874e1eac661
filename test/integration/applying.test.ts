import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Configuration } from '../../src/config/configuration.ts';
import { configurationFor, FAULTY, INTERVAL_MS, SOUND, startRig, sumOf } from './exporting.ts';

test('other limits of the way to the service are taken over, and the counters go on', async () => {
  await using rig = await startRig();
  const { clock, exporter, simulator } = rig;
  const configuration = configurationFor(simulator.url);
  const limitedTo = (maxResponseBytes: number): Configuration => ({
    ...configuration,
    upstream: { ...configuration.upstream, maxResponseBytes },
  });
  const up = async (): Promise<readonly number[]> => {
    const series = await rig.poll();
    return [FAULTY, SOUND].map((code) => sumOf(series, 'xvs_up', code));
  };
  assert.deepEqual(await up(), [1, 1]);
  const { kept } = await exporter.apply(limitedTo(10));
  assert.equal(kept.length, 2);
  assert.deepEqual(await up(), [0, 0]);
  clock.advance(INTERVAL_MS);
  await exporter.apply(configuration);
  assert.deepEqual(await up(), [1, 1]);
  const series = await rig.settle();
  for (const code of [FAULTY, SOUND]) {
    assert.equal(sumOf(series, 'xvs_exporter_polls_total', code), 5);
    const pushed = rig.world.inputBytesPushed(code, clock.now() - INTERVAL_MS, clock.now());
    assert.ok(Math.abs(sumOf(series, 'xvs_input_bytes_total', code) - pushed) < pushed / 10);
  }
});

test('another way to sign is taken over', async () => {
  await using rig = await startRig();
  const configuration = configurationFor(rig.simulator.url);
  const { changed } = await rig.exporter.apply({
    ...configuration,
    signing: { ...configuration.signing, algorithm: 'sha1' },
  });
  assert.equal(changed.length, 2);
  assert.equal(sumOf(await rig.poll(), 'xvs_up', SOUND), 0);
  await rig.exporter.apply(configuration);
  assert.equal(sumOf(await rig.poll(), 'xvs_up', SOUND), 1);
});
