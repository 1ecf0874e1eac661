import { machineFiles } from '../../../src/state/file-system.ts';
import { writeState } from '../../../src/state/write-state.ts';
import { commitNext, load, newTally, NOW_MS } from '../keeping.ts';

/*
 * Goes on from a state file, and writes it again after every listing, until it is killed. Says which listing it has
 * written.
 */

const TASKS = 1000;

const [path = ''] = process.argv.slice(2);
const { tallies } = await load(path);
const tally = tallies.get('TESTING') ?? newTally('TESTING');
for (;;) {
  commitNext(tally, TASKS);
  await writeState(machineFiles, path, [tally], NOW_MS);
  process.send?.(tally.listings);
}
