/** Watches the processes in which the test runner of Node.js runs test files. */
import { spawnSync } from 'node:child_process';
import { subscribe } from 'node:diagnostics_channel';
import { readdirSync, readFileSync } from 'node:fs';

/**
 * Writes a line for each test file that ends. Kills a file that takes too long, with the processes that it
 * started: one that hangs would never end, because its programs keep it alive.
 */
export function watchTestFiles({ count, limitMs, formatName, startTimer = setTimeout }) {
  let ended = 0;
  subscribe('child_process', ({ process: child }) => {
    const startMs = performance.now();
    let timer;
    child.once('spawn', () => {
      const name = formatName(child.spawnargs.at(-1));
      timer = startTimer(() => {
        const killed = killTree(child.pid);
        console.error(
          `${name} took more than ${limitMs / 60_000} min; killed it and its programs (${killed - 1})`,
        );
      }, limitMs);
      child.once('exit', () => {
        clearTimeout(timer);
        ended += 1;
        console.error(
          `${ended} of ${count}: ${name}, ${((performance.now() - startMs) / 1000).toFixed(0)} s`,
        );
      });
    });
  });
}

/** Kills a process and its descendants, and returns their number. */
function killTree(pid) {
  const parents = readParents();
  const tree = [pid];
  // The loop reaches what it appends.
  for (const one of tree)
    tree.push(...parents.filter(({ parent }) => parent === one).map((process) => process.pid));
  for (const one of tree)
    try {
      process.kill(one, 'SIGKILL');
    } catch {
      // It has ended meanwhile.
    }
  return tree.length;
}

/** Lists the processes of the machine: from /proc, or by `ps`, which slim containers lack. */
function readParents() {
  const parse = (line) => {
    const [pid, parent] = line.trim().split(/\s+/).map(Number);
    return { pid, parent };
  };
  if (process.platform !== 'linux')
    return spawnSync('ps', ['-A', '-o', 'pid=,ppid='], { encoding: 'utf8' }).stdout.split('\n').map(parse);
  const pids = readdirSync('/proc').filter((name) => /^\d+$/.test(name));
  return pids.flatMap((pid) => {
    try {
      const [, parent] = /\) \w (\d+)/.exec(readFileSync(`/proc/${pid}/stat`, 'utf8')) ?? [];
      return [parse(`${pid} ${parent}`)];
    } catch {
      return [];
    }
  });
}
