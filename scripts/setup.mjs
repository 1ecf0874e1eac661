// Installs the dependencies of the lock file unless they are installed, so that `npm run demo` and `npm test`
// need no other command on a fresh machine. No static imports and no newer syntax: Node.js 12 has to run this
// file, to say that it is too old.

const [major, minor] = process.versions.node.split('.').map(Number);
if (major < 20 || (major === 20 && minor < 19)) {
  process.stderr.write(
    `Expected Node.js 20.19 or later, found ${process.versions.node}; install a newer one\n`,
  );
  process.exitCode = 2;
} else {
  void import('./install-dependencies.mjs');
}
