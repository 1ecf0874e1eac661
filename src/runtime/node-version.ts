/*
 * Imported first by `main.ts`, and without imports: on an older Node.js, other modules fail with a stack that names no
 * cause.
 */

const REQUIRED = [20, 19] as const;

const [major = 0, minor = 0] = process.versions.node.split('.').map(Number);
if (major < REQUIRED[0] || (major === REQUIRED[0] && minor < REQUIRED[1])) {
  process.stderr.write(
    `xvs-exporter: expected Node.js ${REQUIRED.join('.')} or later, found ${process.versions.node}; install a newer one\n`,
  );
  process.exit(2);
}
