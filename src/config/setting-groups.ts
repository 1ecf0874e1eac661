import { listSettings, toGroupName, type Setting, type SettingPath } from './settings.ts';

/** Settings that share the first part of their key, in the order of the table. */
export interface SettingGroup {
  /** First part of the key; empty for keys without a dot. */
  readonly name: string;
  readonly title: string;
  readonly settings: readonly (readonly [SettingPath, Setting])[];
}

/** In the order in which operators need them. */
const GROUP_TITLES = {
  '': 'Service codes and secret',
  upstream: 'Connection to the service',
  poll: 'Polling',
  shard: 'Sharding',
  metrics: 'Metrics',
  tasks: 'Names of tasks',
  ledger: 'Byte counters',
  web: 'Web server',
  state: 'State',
  log: 'Logging',
  config: 'Configuration file and reload',
  signing: 'Request signing; the default is the scheme of the public clients',
} as const;

/** Lists the settings by group. */
export function listSettingGroups(): readonly SettingGroup[] {
  return Object.entries(GROUP_TITLES).map(([name, title]) => ({
    name,
    title,
    settings: listSettings().filter(([path]) => toGroupName(path) === name),
  }));
}
