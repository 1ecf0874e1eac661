import { groupOf } from './names.ts';
import type { Setting, SettingPath } from './settings.ts';
import { settingEntries } from './settings.ts';

/** Settings that share the first part of their key, in the order of the table. */
export interface SettingGroup {
  /** First part of the key; empty for keys that stand alone. */
  readonly name: string;
  /** What they are for. */
  readonly title: string;
  readonly settings: readonly (readonly [SettingPath, Setting])[];
}

/** What one does with each group, in the order in which one meets them. */
const TITLES: ReadonlyMap<string, string> = new Map([
  ['', 'What to poll, and the secret to sign with'],
  ['upstream', 'How to reach the service'],
  ['poll', 'How often to poll'],
  ['shard', 'Which share of the service codes to poll'],
  ['metrics', 'How much to expose'],
  ['web', 'Where to be scraped'],
  ['state', 'What outlives the process'],
  ['log', 'What to log'],
  ['config', 'Where all this may be written down, and when that is read again'],
  ['signing', 'How to sign, where a deployment differs'],
]);

/** The table of settings in groups. One that has no title yet comes last, under its name. */
export function settingGroups(): readonly SettingGroup[] {
  const settings = settingEntries();
  const names = new Set([...TITLES.keys(), ...settings.map(([path]) => groupOf(path))]);
  return [...names].map((name) => ({
    name,
    title: TITLES.get(name) ?? name,
    settings: settings.filter(([path]) => groupOf(path) === name),
  }));
}
