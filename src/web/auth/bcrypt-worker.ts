import { parentPort } from 'node:worker_threads';
import { compareSync } from 'bcryptjs';
import { z } from 'zod';

const question = z.object({ password: z.string(), hash: z.string() });

// The one module that works at import: a thread has no other way to begin.
parentPort?.on('message', (message: unknown) => {
  const { password, hash } = question.parse(message);
  parentPort?.postMessage(compareSync(password, hash));
});
