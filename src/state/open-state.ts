import type { Clock } from '../runtime/clock.ts';
import { getErrorCode } from '../runtime/errors.ts';
import type { Logger } from '../runtime/logger.ts';
import type { Tally } from '../tally/tally.ts';
import { checkWritable } from './atomic-file.ts';
import type { FileSystem } from './file-system.ts';
import { UnusableStateError, type StateHeader } from './format.ts';
import { readJournal, type ReadJournal } from './journal-file.ts';
import { toJournalPath } from './journal.ts';
import { readState } from './read-state.ts';
import { advanceSavedCode, EMPTY_SAVED_CODE, restoreTally, type SavedCode } from './saved-code.ts';

export interface OpenStateOptions {
  readonly path: string;
  readonly files: FileSystem;
  readonly clock: Clock;
  readonly logger: Logger;
  /** Creates an empty tally for a service code; `undefined` if the code is not configured. */
  readonly createTally: (serviceCode: string) => Tally | undefined;
}

const FINDINGS_BY_ERROR_CODE: ReadonlyMap<string, string> = new Map([
  ['ENOENT', 'in a directory that does not exist'],
  ['ENOTDIR', 'in a directory that does not exist'],
  ['EACCES', 'which this user may not read or write'],
  ['EPERM', 'which this user may not read or write'],
  ['EROFS', 'which is on a read-only file system'],
]);

/** Full disks do not prevent the start: the exporter reports each write that fails. */
const TRANSIENT_ERROR_CODES: ReadonlySet<string | undefined> = new Set(['ENOSPC', 'EDQUOT']);

/** The state that an earlier process left. */
export interface OpenedState {
  /** Restored tallies of configured service codes. */
  readonly tallies: ReadonlyMap<string, Tally>;
  /** The saved states of all service codes. */
  readonly codes: ReadonlyMap<string, SavedCode>;
  /** The id of the snapshot to which the journal beside the file belongs. */
  readonly journalId: string | undefined;
}

const NO_STATE: OpenedState = { tallies: new Map(), codes: new Map(), journalId: undefined };

/**
 * Reads the state file and its journal, and restores tallies. Without a file there are none; an unusable file is logged
 * and renamed.
 *
 * Rejects with a message for the operator if the file cannot be read or written.
 */
export async function openState(options: OpenStateOptions): Promise<OpenedState> {
  const { files, path, logger } = options;
  const isFound = await ignoreTransientErrors(path, () => hasStateFile(files, path));
  await ignoreTransientErrors(path, () => checkWritable(files, path));
  try {
    if (isFound === true) return await restoreState(options);
    logger.info({ file: path }, 'State file not found; counters start at 0');
    await checkJournalAbsent(options);
  } catch (error) {
    if (!(error instanceof UnusableStateError)) throw toStateFileError(path, error);
    const { reason, message } = error;
    const fields = {
      file: path,
      reason,
      err: message,
      renamed_to: await setAside(options, path),
      journal_renamed_to: await setAside(options, toJournalPath(path)),
    };
    logger.warn(fields, 'State file is unusable; counters start at 0');
  }
  return NO_STATE;
}

async function restoreState(options: OpenStateOptions): Promise<OpenedState> {
  const { files, path, clock, logger, createTally } = options;
  const state = await readState(files, path);
  const journal = await openJournal(options, state);
  const codes = new Map(state.codes);
  for (const totals of journal?.records ?? []) {
    const [, serviceCode] = totals;
    codes.set(serviceCode, advanceSavedCode(codes.get(serviceCode) ?? EMPTY_SAVED_CODE, totals));
  }
  const now = { wallMs: clock.now(), monotonicMs: clock.monotonic() };
  const tallies = new Map<string, Tally>();
  for (const [serviceCode, saved] of codes) {
    const tally = createTally(serviceCode);
    if (tally !== undefined) tallies.set(serviceCode, restoreTally(tally, saved, now));
  }
  const fields = {
    file: path,
    service_codes: tallies.size,
    unconfigured_service_codes: codes.size - tallies.size,
    age_seconds: Math.round((now.wallMs - state.createdMs) / 1000),
    journal_records: journal?.records.length ?? 0,
  };
  logger.info(fields, 'State restored');
  return { tallies, codes, journalId: journal?.snapshotId };
}

/**
 * Reads the journal of a snapshot. A journal that is damaged counts up to its last intact record, one of another snapshot
 * not at all; both are logged and renamed.
 */
async function openJournal(
  options: OpenStateOptions,
  { id, journalId }: StateHeader,
): Promise<ReadJournal | undefined> {
  const { files, path, logger } = options;
  const file = toJournalPath(path);
  try {
    const journal = await readJournal(files, file);
    if (journal.snapshotId !== id && journal.snapshotId !== journalId)
      throw new UnusableStateError(
        'damaged',
        'Expected the journal of the state file, found that of another one',
      );
    if (journal.lostBytes === 0) return journal;
    const wallMs = journal.records.at(-1)?.[2];
    const fields = {
      file,
      intact_records: journal.records.length,
      last_intact: wallMs === undefined ? undefined : new Date(wallMs).toISOString(),
      lost_bytes: journal.lostBytes,
      renamed_to: await setAside(options, file),
    };
    logger.warn(fields, 'State journal is damaged; counters resume from its last intact record');
    return journal;
  } catch (error) {
    if (getErrorCode(error) === 'ENOENT') {
      logger.warn({ file }, 'State journal not found; counters resume from the state file');
      return undefined;
    }
    if (!(error instanceof UnusableStateError)) throw error;
    const { reason, message } = error;
    const fields = { file, reason, err: message, renamed_to: await setAside(options, file) };
    logger.warn(fields, 'State journal is unusable; counters resume from the state file');
    return undefined;
  }
}

/** Without its state file, a journal is unusable: deleting the state file is how counters are reset. */
async function checkJournalAbsent({ files, path, logger, ...options }: OpenStateOptions): Promise<void> {
  const file = toJournalPath(path);
  if ((await statIfExists(files, file)) === undefined) return;
  const renamedTo = await setAside({ files, path, logger, ...options }, file);
  logger.warn({ file, renamed_to: renamedTo }, 'State journal has no state file; its totals are not used');
}

/** Renames an unusable file, if it exists. */
async function setAside({ files, path, clock }: OpenStateOptions, file: string): Promise<string | undefined> {
  return await ignoreTransientErrors(path, async () =>
    (await statIfExists(files, file)) === undefined
      ? undefined
      : await renameUnusableFile(files, file, clock.now()),
  );
}

/** Renames an unusable file, so that the next write does not replace it, and returns its new path. */
async function renameUnusableFile(files: FileSystem, path: string, nowMs: number): Promise<string> {
  const time = new Date(nowMs).toISOString().replaceAll(/[-:]|\.\d+/g, '');
  for (let number = 1; ; number += 1) {
    const newPath = `${path}.damaged-${time}${number === 1 ? '' : `-${number}`}`;
    if ((await statIfExists(files, newPath)) !== undefined) continue;
    await files.rename(path, newPath);
    return newPath;
  }
}

/** Rejects for a directory or a device, which must not be read, renamed or replaced. */
async function hasStateFile(files: FileSystem, path: string): Promise<boolean> {
  const stats = await statIfExists(files, path);
  if (stats?.isFile() === false) throw createStateFileError(path, 'which is not a regular file');
  return stats !== undefined;
}

async function statIfExists(
  files: FileSystem,
  path: string,
): Promise<Awaited<ReturnType<FileSystem['stat']>> | undefined> {
  try {
    return await files.stat(path);
  } catch (error) {
    if (getErrorCode(error) === 'ENOENT') return undefined;
    throw error;
  }
}

async function ignoreTransientErrors<T>(path: string, run: () => Promise<T>): Promise<T | undefined> {
  try {
    return await run();
  } catch (error) {
    if (TRANSIENT_ERROR_CODES.has(getErrorCode(error))) return undefined;
    throw toStateFileError(path, error);
  }
}

function toStateFileError(path: string, error: unknown): unknown {
  const code = getErrorCode(error);
  if (code === undefined) return error;
  return createStateFileError(path, FINDINGS_BY_ERROR_CODE.get(code) ?? `which fails with ${code}`, error);
}

function createStateFileError(path: string, found: string, cause?: unknown): Error {
  return new Error(`state.file: expected a file to read and write, found ${JSON.stringify(path)}, ${found}`, {
    cause,
  });
}
