#!/usr/bin/env node
// No static imports and no newer syntax: Node.js 12 has to run this file, to say that it is too old.

// First: without handlers, SIGHUP ends the process, and SIGUSR1 opens the inspector, through which local
// users can read the secrets.
let hasHungUp = false;
process.on('SIGHUP', () => {
  hasHungUp = true;
});
process.on('SIGUSR1', () => undefined);

// The kernel drops signals that process 1 has no handler for. Elsewhere, they end the process.
let isStopped = false;
function rememberStop(): void {
  isStopped = true;
  stopRemembering();
}
function stopRemembering(): void {
  process.off('SIGTERM', rememberStop);
  process.off('SIGINT', rememberStop);
}
if (process.pid === 1) {
  process.on('SIGTERM', rememberStop);
  process.on('SIGINT', rememberStop);
}

const [major = 0, minor = 0] = process.versions.node.split('.').map(Number);
if (major < 20 || (major === 20 && minor < 19)) {
  process.stderr.write(
    `xvs-exporter: expected Node.js 20.19 or later, found ${process.versions.node}; install a newer one\n`,
  );
  process.exitCode = 2;
} else {
  // Before anything uses a thread. On Node.js 20, only the environment of the process has an effect.
  process.env['UV_THREADPOOL_SIZE'] = process.env['UV_THREADPOOL_SIZE'] || '24';
  const hasStopped = (): boolean => {
    stopRemembering();
    return isStopped;
  };
  void import('./commands/program.ts')
    .then(({ runProgram }) => runProgram(process.argv.slice(2), { hasHungUp: () => hasHungUp, hasStopped }))
    // Not left to an empty event loop: after a shutdown that timed out, or a bug, handles are still open.
    .then((exitCode) => process.exit(exitCode));
}
