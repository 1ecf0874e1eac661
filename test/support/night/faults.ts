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
    const rules = files.rules.replaceAll(pattern, replacement);
    if (rules === files.rules) throw new Error(`Expected ${String(pattern)} in the rules, found none`);
    return { ...files, rules };
  };
}

/** Lets the sources of an inhibition explain the alerts of every service code. */
function widenInhibition(source: string): PlantedFault['plant'] {
  return (files) => {
    const inhibitions = readInhibitions(files.alertmanager).map((inhibition) =>
      inhibition.source_matchers.join(' ').includes(source)
        ? { ...inhibition, equal: inhibition.equal.filter((label) => label !== 'service_code') }
        : inhibition,
    );
    return {
      ...files,
      alertmanager: JSON.stringify({ ...parse(files.alertmanager), inhibit_rules: inhibitions }),
    };
  };
}

const MEMORY = /(expr: \|-\n)( +)(service_\w+:\w+:(?:before_\w+|half_lost\w+)\n[^]*?\n\2  or\n)/g;

export const PLANTED_FAULTS: readonly PlantedFault[] = [
  { name: 'XvsApiDown inhibits all service codes', seed: 4, plant: widenInhibition('"XvsApiDown"') },
  {
    name: 'XvsIngestStopped inhibits all service codes',
    seed: 2,
    plant: widenInhibition('"XvsIngestStopped"'),
  },
  {
    name: 'XvsTasksVanished inhibits all service codes',
    seed: 3,
    plant: widenInhibition('"XvsTasksVanished"'),
  },
  {
    name: 'XvsExpectedTaskDown inhibits all service codes',
    seed: 4,
    plant: widenInhibition('"XvsExpectedTaskDown"'),
  },
  {
    name: 'XvsTasksDropped and XvsEgressDropped inhibit all service codes',
    seed: 42,
    plant: widenInhibition('XvsTasksDropped|'),
  },
  {
    name: 'XvsDeliveryBlackhole inhibits all service codes',
    seed: 320,
    plant: widenInhibition('"XvsDeliveryBlackhole"'),
  },
  {
    name: 'rules compare with a moment, at which polls may have failed',
    seed: 4,
    plant: changeRules(/last_over_time\((\w+:\w+:\w+)\[1h\] (offset \w+)\)/g, '$1 $2'),
  },
  { name: 'no alert keeps firing', seed: 5, plant: changeRules(/ +keep_firing_for: .*\n/g, '') },
  {
    name: 'streams that come and go are not down',
    seed: 8,
    plant: changeRules('changes(service_code_task_name:xvs_expected_task_up:max[5m]) >= 3', 'vector(0) > 1'),
  },
  {
    name: 'tasks that have long been silent are part of the share',
    seed: 2,
    plant: changeRules(
      /service_code:xvs_tasks:receiving \+ service_code:xvs_tasks:silent\n +- \([^]*?> service_code:xvs_tasks:receiving\n +or\n/g,
      `service_code:xvs_tasks:receiving + service_code:xvs_tasks:silent >= 4
            and service_code:xvs_tasks:silent > service_code:xvs_tasks:receiving
            or
`,
    ),
  },
  { name: 'alerts of a loss forget the level before it', seed: 2, plant: changeRules(MEMORY, '$1') },
  {
    name: 'a listing is current only if the last poll succeeded',
    seed: 9,
    plant: changeRules(
      /(and ignoring \(task_name\) )service_code:xvs_listing_tasks:max/g,
      '$1(max without (instance, pod, job) (xvs_up) == 1)',
    ),
  },
];
