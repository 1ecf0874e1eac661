import assert from 'node:assert/strict';
import { test } from 'node:test';
import { STALE_AFTER_MS } from './rig-configuration.ts';
import { Rig } from './rig.ts';
import { NO_LOSSES } from '../../src/tally/losses/losses.ts';
import { sumSeries } from '../support/series.ts';

const FAULTY = 'FAULTY';
const SOUND = 'SOUND';

function getStatus({ exporter }: Rig, serviceCode: string) {
  const status = exporter.facade.getStatus(serviceCode);
  assert.ok(status !== undefined);
  return status;
}

test('the status of a service code follows its polls', async (t) => {
  await using rig = await Rig.start();
  assert.equal(getStatus(rig, FAULTY).condition, 'waiting');

  await t.test('after a successful poll it is up, and its totals match /metrics', async () => {
    const series = await rig.poll();
    const { condition, totals } = getStatus(rig, FAULTY);
    assert.equal(condition, 'up');
    assert.deepEqual(
      [totals?.users, totals?.tasks, totals?.connections, totals?.stalledTasks, totals?.ingress],
      [
        ...['xvs_online_users', 'xvs_tasks', 'xvs_http_connections'].map((name) =>
          sumSeries(series, name, FAULTY),
        ),
        0,
        undefined,
      ],
    );
  });

  await t.test('after a second successful poll it has rates', async () => {
    const before = await rig.poll();
    rig.clock.advance(10_000);
    const after = await rig.poll();
    const gained =
      sumSeries(after, 'xvs_input_bytes_total', FAULTY) - sumSeries(before, 'xvs_input_bytes_total', FAULTY);
    assert.ok(gained > 0);
    assert.equal(getStatus(rig, FAULTY).totals?.ingress, gained / 10);
  });

  await t.test('after a failed poll it is down, without rates, and the plot has a gap', async () => {
    rig.simulator.faults.set({ fault: 'ret', value: 1001, serviceCode: FAULTY });
    rig.clock.advance(10_000);
    const tasks = getStatus(rig, FAULTY).totals?.tasks;
    await rig.poll();
    const { condition, failure, ret, totals, history } = getStatus(rig, FAULTY);
    assert.deepEqual([condition, failure?.reason, ret], ['down', 'api_error', 1001]);
    assert.deepEqual([totals?.tasks, totals?.ingress, totals?.egress], [tasks, undefined, undefined]);
    assert.equal(history.entries().at(-1)?.totals, undefined);
    assert.equal(getStatus(rig, SOUND).condition, 'up');
  });

  await t.test('after a failed poll it tells what was lost, as alerts do', () => {
    const { store } = rig.exporter;
    const state = store.get(FAULTY);
    assert.ok(state?.snapshot !== undefined && state.failure !== undefined);
    const losses = { ...NO_LOSSES, users: { before: 100, since: state.snapshot.at } };
    store.publish({ ...state, snapshot: { ...state.snapshot, losses } });
    assert.deepEqual(getStatus(rig, FAULTY).losses, losses);
  });

  await t.test('a stale listing is not shown', async () => {
    assert.ok(rig.exporter.facade.getBreakdown(FAULTY) !== undefined);
    rig.clock.advance(STALE_AFTER_MS);
    assert.equal(getStatus(rig, FAULTY).condition, 'down');
    assert.equal(getStatus(rig, FAULTY).totals, undefined);
    assert.deepEqual(getStatus(rig, FAULTY).losses, NO_LOSSES);
    assert.equal(rig.exporter.facade.getBreakdown(FAULTY), undefined);
    // The last success of the other code is too old.
    rig.clock.advance(1);
    assert.equal(getStatus(rig, SOUND).condition, 'stale');
  });

  await t.test('after the service recovers, it is up', async () => {
    rig.simulator.faults.clear();
    await rig.poll();
    assert.equal(getStatus(rig, FAULTY).condition, 'up');
    assert.ok((getStatus(rig, FAULTY).totals?.ingress ?? 0) > 0);
  });
});

test('a service code is without traffic if no task receives or delivers bytes', async () => {
  await using rig = await Rig.start();
  await rig.poll();
  assert.equal(getStatus(rig, SOUND).condition, 'up', 'rates are not known yet');
  rig.clock.advance(10_000);
  rig.simulator.faults.set({ fault: 'freeze_ingest', serviceCode: SOUND });
  await rig.poll();
  rig.clock.advance(10_000);
  await rig.poll();
  const { condition, totals } = getStatus(rig, SOUND);
  assert.deepEqual([condition, totals?.ingress, totals?.egress], ['idle', 0, 0]);
  assert.equal(getStatus(rig, FAULTY).condition, 'up');
  rig.simulator.faults.clear();
  rig.clock.advance(10_000);
  await rig.poll();
  assert.equal(getStatus(rig, SOUND).condition, 'up');
});
