import { parentPort } from 'node:worker_threads';
import { compareSync } from 'bcryptjs';

// The one module that works at import: a thread has no other way to begin. It is told a password and a hash.
parentPort?.on('message', (message: unknown) => {
  const [password, hash]: unknown[] = Array.isArray(message) ? message : [];
  if (typeof password !== 'string' || typeof hash !== 'string')
    throw new TypeError('Expected a password and a hash');
  parentPort?.postMessage(compareSync(password, hash));
});
