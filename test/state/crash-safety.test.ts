import assert from 'node:assert/strict';
import { fork } from 'node:child_process';
import { once } from 'node:events';
import { existsSync } from 'node:fs';
import { test } from 'node:test';
import { setTimeout as delay } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { machineFiles } from '../../src/state/file-system.ts';
import { writeState } from '../../src/state/write-state.ts';
import { Folder, inputBytesIn, load, NOW_MS } from './keeping.ts';

const CHILD = fileURLToPath(new URL('children/writing-state.js', import.meta.url));
const KILLS = 25;
/** A write takes some milliseconds: moments within so long fall into every part of one. */
const WITHIN_MS = 40;

/** Has a child write again and again, kills it at a random moment, and gives the last listing that it said to have written. */
async function killWriter(path: string): Promise<number> {
  const child = fork(CHILD, [path]);
  let written = 0;
  child.on('message', (listing) => {
    written = Number(listing);
  });
  const ended = once(child, 'exit');
  await Promise.race([once(child, 'message'), ended]);
  await delay(WITHIN_MS * Math.random());
  child.kill('SIGKILL');
  assert.deepEqual(await ended, [null, 'SIGKILL']);
  return written;
}

test('a process that is killed at any moment leaves the old state or the new one, whole', async () => {
  using folder = new Folder();
  const path = folder.file();
  await writeState(machineFiles, path, [], NOW_MS);
  let midway = 0;
  for (let kill = 0; kill < KILLS; kill += 1) {
    const written = await killWriter(path);
    if (existsSync(`${path}.tmp`)) midway += 1;
    const tally = (await load(path)).tallies.get('TESTING');
    const listings = tally?.listings ?? 0;
    assert.ok(listings >= written && written > 0, `Expected listing ${written} or later, found ${listings}`);
    assert.deepEqual(inputBytesIn(tally), [1000 * listings]);
  }
  assert.ok(midway > 0, 'Expected some of the moments to fall into a write, found none');
});
