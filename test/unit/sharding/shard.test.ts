import assert from 'node:assert/strict';
import { test } from 'node:test';
import { parseOrdinal } from '../../../src/sharding/shard.ts';

const HOSTS: readonly (readonly [name: string, ordinal: number | undefined])[] = [
  ['xvs-exporter-0', 0],
  ['xvs-exporter-3', 3],
  ['xvs-exporter-17', 17],
  ['xvs-exporter-3.xvs-exporter.live.svc.cluster.local', 3],
  ['a-1-2', 2],
  ['xvs-exporter', undefined],
  ['xvs-exporter3', undefined],
  ['xvs-exporter-', undefined],
  ['xvs-exporter-03', undefined],
  ['xvs-exporter-3a', undefined],
  ['xvs-exporter-7d4b9c6f5-x2x4k', undefined],
  ['machine.room-3', undefined],
  ['3', undefined],
  ['', undefined],
];

for (const [name, ordinal] of HOSTS) {
  test(`the ordinal of the host ${JSON.stringify(name)} is ${ordinal ?? 'missing'}`, () => {
    assert.equal(parseOrdinal(name), ordinal);
  });
}
