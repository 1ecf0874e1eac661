import { dirname } from 'node:path';
import { ConfigError, expectedFound, formatValue } from './config-error.ts';
import { isMissing, type ConfigFileSystem } from './files.ts';
import type { LoadResult } from './loader.ts';

/** Checks that the folder of the state file exists; the exporter does not create it. Rejects with a ConfigError. */
export async function checkStateFolder(
  { configuration, settings }: LoadResult,
  { listFolder }: Pick<ConfigFileSystem, 'listFolder'>,
): Promise<void> {
  const { file } = configuration.state;
  if (file === undefined) return;
  const folder = dirname(file);
  // A folder that cannot be listed may still be writable.
  const missing = await listFolder(folder).then(() => false, isMissing);
  if (!missing) return;
  const found = `${formatValue(folder)}, which does not exist`;
  const message = expectedFound('a file in a folder that exists', found, 'create the folder');
  throw new ConfigError([{ location: settings.locate('state.file'), message }]);
}
