import { environmentName } from '../../src/config/names.ts';
import { settingEntries } from '../../src/config/settings.ts';

/** The variables that the program reads its settings from. */
export function knownVariables(): ReadonlySet<string> {
  return new Set(settingEntries().map(([path]) => environmentName(path)));
}
