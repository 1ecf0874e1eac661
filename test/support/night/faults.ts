import { parse } from 'yaml';
import { readInhibitions } from './notifications.ts';
import type { AlertFiles } from './report.ts';

/** A mistake in the rules or the inhibitions that a night has to find. */
export interface PlantedFault {
  readonly name: string;
  /** A night that finds it. */
  readonly seed: number;
  readonly plant: (files: AlertFiles) => AlertFiles;
}

/** Plants a fault in the text of the rules. Throws if the text has nothing to replace. */
function changeRules(pattern: RegExp | string, replacement: string): PlantedFault['plant'] {
  return (files) => {
    const rules = files.rules.replace(pattern, replacement);
    if (rules === files.rules) throw new Error(`Expected ${String(pattern)} in the rules, found none`);
    return { ...files, rules };
  };
}

/** Lets the sources of an inhibition explain alerts whatever the label is. */
function widenInhibition(source: string, target = '', label = 'service_code'): PlantedFault['plant'] {
  return (files) => {
    const original = readInhibitions(files.alertmanager);
    const inhibitions = original.map((inhibition) =>
      inhibition.source_matchers.join(' ').includes(source) &&
      inhibition.target_matchers.join(' ').includes(target)
        ? { ...inhibition, equal: inhibition.equal.filter((name) => name !== label) }
        : inhibition,
    );
    return {
      ...files,
      alertmanager: JSON.stringify({ ...parse(files.alertmanager), inhibit_rules: inhibitions }),
    };
  };
}

/** Lets an alert never fire. */
function silenceAlert(alert: string): PlantedFault['plant'] {
  return changeRules(
    new RegExp(String.raw`(alert: ${alert}\n(?: +#.*\n)* +)expr:[^]*?(\n +for:)`),
    '$1expr: vector(0) > 1$2',
  );
}

export const PLANTED_FAULTS: readonly PlantedFault[] = [
  {
    name: 'XvsApiDown inhibits the data of all service codes',
    seed: 19,
    plant: widenInhibition('"XvsApiDown"', 'layer="data"'),
  },
  {
    name: 'XvsApiDown inhibits failed polls of all service codes',
    seed: 42,
    plant: widenInhibition('"XvsApiDown"', 'XvsApiErrorRatio|'),
  },
  {
    name: 'XvsIngestStopped inhibits all service codes',
    seed: 3,
    plant: widenInhibition('"XvsIngestStopped"'),
  },
  {
    name: 'XvsTasksVanished inhibits all service codes',
    seed: 35,
    plant: widenInhibition('"XvsTasksVanished"'),
  },
  {
    name: 'XvsExpectedTaskDown inhibits the stream of that name in all service codes',
    seed: 7,
    plant: widenInhibition('"XvsExpectedTaskDown"'),
  },
  {
    name: 'XvsExpectedTaskDown inhibits all streams of its service code',
    seed: 35,
    plant: widenInhibition('"XvsExpectedTaskDown"', '', 'task_name'),
  },
  {
    name: 'XvsTasksDropped inhibits all service codes',
    seed: 2,
    plant: widenInhibition('"XvsTasksDropped"'),
  },
  {
    name: 'XvsDeliveryBlackhole inhibits all service codes',
    seed: 45,
    plant: widenInhibition('"XvsDeliveryBlackhole"'),
  },
  {
    name: 'what no process knows is over',
    seed: 508,
    plant: changeRules(/last_over_time\((xvs_(?:listing|tasks)_\w+)\[1h\]\)/g, '($1)'),
  },
  { name: 'no alert keeps firing', seed: 5, plant: changeRules(/ +keep_firing_for: .*\n/g, '') },
  {
    name: 'streams that come and go are not down',
    seed: 21,
    plant: changeRules('changes(service_code_task_name:xvs_expected_task_up:max[5m]) >= 3', 'vector(0) > 1'),
  },
  {
    name: 'tasks that come and go are not missing',
    seed: 27,
    plant: changeRules('resets(service_code:xvs_tasks:receiving[5m]) >= 2', 'vector(0) > 1'),
  },
  {
    name: 'outputs that come and go are not missing',
    seed: 11,
    plant: changeRules(
      'max without (instance, pod, job) (changes(xvs_expected_task_outputs[5m])) >= 3',
      'vector(0) > 1',
    ),
  },
  {
    name: 'a listing is current only if the last poll succeeded',
    seed: 11,
    plant: changeRules(
      /(and ignoring \(task_name\) )service_code:xvs_listing_tasks:max/g,
      '$1(max without (instance, pod, job) (xvs_up) == 1)',
    ),
  },
  {
    name: 'tasks of a server that become silent are not reported',
    seed: 5,
    plant: silenceAlert('XvsIngestStalled'),
  },
  // Those that a violation which is known to stay might hide.
  { name: 'a server that leaves is not missed', seed: 2, plant: silenceAlert('XvsServerDisappeared') },
  {
    name: 'service codes that lose all tasks are not reported',
    seed: 35,
    plant: silenceAlert('XvsTasksVanished'),
  },
  {
    name: 'XvsIngestStopped goes on long after ingest has recovered',
    seed: 4,
    plant: changeRules(/(alert: XvsIngestStopped\n[^]*?keep_firing_for:) \w+/, '$1 30m'),
  },
];
