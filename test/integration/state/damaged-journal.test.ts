import assert from 'node:assert/strict';
import { readFileSync, rmSync, writeFileSync } from 'node:fs';
import { after, test } from 'node:test';
import { TemporaryFolder } from '../../support/temporary-folder.ts';
import { closeAbandonedFiles, createKilledState, StoreHarness } from '../../unit/state/store-fixtures.ts';

after(closeAbandonedFiles);

const INPUT = 'inputBytes v';

test('a journal truncated or altered at any byte counts up to its last intact record', async () => {
  using folder = new TemporaryFolder();
  const path = folder.at('state');
  await createKilledState(path, [{ 'v/1': 0 }, { 'v/1': 100 }], [{ 'v/1': 150 }, { 'v/1': 175 }]);
  const [state, journal] = [readFileSync(path), readFileSync(`${path}.journal`)];
  const ends = [...journal.entries()].flatMap(([index, byte]) => (byte === 0x0a ? [index + 1] : []));
  assert.equal(ends.length, 3);
  const check = async (content: Buffer, damagedAt: number, isCut: boolean): Promise<void> => {
    writeFileSync(path, state);
    writeFileSync(`${path}.journal`, content);
    const opened = await StoreHarness.open(path, ['A']);
    const intactEnds = ends.filter((end) => end <= damagedAt);
    assert.equal(opened.resumed('A')[INPUT], [100, 100, 150, 175][intactEnds.length], `at ${damagedAt}`);
    const warnings = opened.lines.filter(({ level }) => level === 'warn');
    assert.equal(warnings.length, isCut && ends.includes(damagedAt) ? 0 : 1, `at ${damagedAt}`);
    for (const { file, renamed_to: renamedTo } of warnings) {
      assert.equal(file, `${path}.journal`);
      assert.deepEqual(readFileSync(String(renamedTo)), content);
      rmSync(String(renamedTo));
    }
  };
  for (let length = 0; length <= journal.length; length += 1)
    await check(journal.subarray(0, length), length, true);
  for (let index = 0; index < journal.length; index += 1) {
    const altered = Buffer.from(journal);
    altered[index] = (altered[index] ?? 0) ^ 0x04;
    await check(altered, index, false);
  }
});
