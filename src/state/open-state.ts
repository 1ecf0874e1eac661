import type { Clock } from '../clock.ts';
import type { Logger } from '../log.ts';
import type { Tally } from '../tally/tally.ts';
import { proveWritable } from './atomic-file.ts';
import { codeOf, type FileSystem } from './file-system.ts';
import { readState } from './read-state.ts';
import { setAside } from './set-aside.ts';
import { UnusableStateError } from './unusable.ts';

export interface OpenStateOptions {
  readonly path: string;
  readonly files: FileSystem;
  readonly clock: Clock;
  readonly logger: Logger;
  /** A new tally for a service code; `undefined` if it is not polled any more. */
  readonly tallyFor: (serviceCode: string) => Tally | undefined;
}

/** What is the matter with the place of the file, by the system's code. */
const REASONS: ReadonlyMap<string | undefined, string> = new Map([
  ['ENOENT', 'whose folder does not exist'],
  ['ENOTDIR', 'whose folder does not exist'],
  ['EACCES', 'which this user may not read or write'],
  ['EPERM', 'which this user may not read or write'],
  ['EROFS', 'which is on a read-only file system'],
]);

/** The place is right, and what is wrong with it may pass: the exporter starts, and tells when it cannot write. */
const PASSING: ReadonlySet<string | undefined> = new Set(['ENOSPC', 'EDQUOT']);

/**
 * The tallies that the state file holds, by service code; none if there is no such file, or none that can be used:
 * that is logged, and the file set aside.
 *
 * Rejects, with a message for the operator, where the file can be neither read nor written: it was asked for.
 */
export async function openState(options: OpenStateOptions): Promise<ReadonlyMap<string, Tally>> {
  const { files, path, logger } = options;
  const found = await expectPlace(path, () => isThere(files, path));
  await expectPlace(path, () => proveWritable(files, path));
  if (found !== true) {
    logger.info({ file: path }, 'No state file yet, counters begin at 0');
    return new Map();
  }
  try {
    return await restored(options);
  } catch (error) {
    if (!(error instanceof UnusableStateError)) throw explain(path, error);
    const { reason, message } = error;
    const aside = await expectPlace(path, () => setAside(files, path, options.clock.now()));
    logger.warn(
      { file: path, reason, error: message, set_aside: aside },
      'State file cannot be used, counters begin at 0',
    );
    return new Map();
  }
}

async function restored({
  files,
  path,
  clock,
  logger,
  tallyFor,
}: OpenStateOptions): Promise<ReadonlyMap<string, Tally>> {
  const now = { wallMs: clock.now(), monotonicMs: clock.monotonic() };
  const { tallies, dropped, createdMs } = await readState(files, path, tallyFor, now);
  const fields = {
    file: path,
    service_codes: tallies.size,
    dropped_service_codes: dropped,
    age_seconds: Math.round((now.wallMs - createdMs) / 1000),
  };
  logger.info(fields, 'State restored, counters go on');
  return tallies;
}

/** Whether there is a file. What is no file (a folder, a device) is none to be read, set aside or replaced. */
async function isThere(files: FileSystem, path: string): Promise<boolean> {
  try {
    const found = await files.stat(path);
    if (!found.isFile()) throw mistake(path, 'which is no file');
    return true;
  } catch (error) {
    if (codeOf(error) === 'ENOENT') return false;
    throw error;
  }
}

async function expectPlace<T>(path: string, act: () => Promise<T>): Promise<T | undefined> {
  try {
    return await act();
  } catch (error) {
    if (PASSING.has(codeOf(error))) return undefined;
    throw explain(path, error);
  }
}

function explain(path: string, error: unknown): unknown {
  const code = codeOf(error);
  if (code === undefined) return error;
  return mistake(path, REASONS.get(code) ?? `which gives ${code}`, error);
}

function mistake(path: string, found: string, cause?: unknown): Error {
  return new Error(`state.file: expected a file to read and write, found ${JSON.stringify(path)}, ${found}`, {
    cause,
  });
}
