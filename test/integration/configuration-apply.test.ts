import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Configuration } from '../../src/config/configuration.ts';
import { CODES, INTERVAL_MS } from './rig-configuration.ts';
import { Rig } from './rig.ts';
import { sumSeries, type Series } from '../support/series.ts';

const readUp = (series: Series): readonly number[] => CODES.map((code) => sumSeries(series, 'xvs_up', code));
const ALL_UP = CODES.map(() => 1);
const ALL_DOWN = CODES.map(() => 0);

test('a reload applies changed upstream limits, and the counters continue', async () => {
  await using rig = await Rig.start();
  const { clock, configuration, exporter } = rig;
  const limitedTo = (maxResponseBytes: number): Configuration => ({
    ...configuration,
    upstream: { ...configuration.upstream, maxResponseBytes },
  });
  assert.deepEqual(readUp(await rig.poll()), ALL_UP);
  const { kept } = await exporter.apply(limitedTo(10));
  assert.equal(kept.length, CODES.length);
  assert.deepEqual(readUp(await rig.poll()), ALL_DOWN);
  clock.advance(INTERVAL_MS);
  await exporter.apply(configuration);
  assert.deepEqual(readUp(await rig.poll()), ALL_UP);
  const series = await rig.pollTwice();
  for (const code of CODES) {
    assert.equal(sumSeries(series, 'xvs_exporter_polls_total', code), 5);
    const pushed = rig.world.bytesPushed(code, clock.now() - INTERVAL_MS, clock.now()).input;
    assert.ok(Math.abs(sumSeries(series, 'xvs_input_bytes_total', code) - pushed) < pushed / 10);
  }
});
