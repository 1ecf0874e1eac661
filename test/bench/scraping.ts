import { Gauge, Registry } from 'prom-client';
import { Exposition } from '../../src/metrics/exposition.ts';
import type { Family } from '../../src/metrics/family.ts';
import { alternate, type Comparison } from './measure.ts';

const SERIES = 100_000;
const ROUNDS = 7;
const SPEC = {
  name: 'xvs_task_stalled',
  type: 'gauge',
  help: 'Whether a task is stalled.',
  labels: ['service_code', 'task_id'],
} as const;

/** The same series again, as after a poll that changed them all. */
function familyOf(value: number): Family {
  return {
    spec: SPEC,
    samples: Array.from({ length: SERIES }, (_, n) => ({
      labels: ['TESTING', `aws-cn_north_1-5-${n}`],
      value,
    })),
  };
}

function registryOf(): Registry {
  const registry = new Registry();
  const gauge = new Gauge({
    name: SPEC.name,
    help: SPEC.help,
    labelNames: SPEC.labels,
    registers: [registry],
  });
  for (const { labels } of familyOf(0).samples) {
    gauge.set({ service_code: labels[0] ?? '', task_id: labels[1] ?? '' }, 0);
  }
  return registry;
}

/** A scrape of 100,000 series, up to the body that is sent, against prom-client's `metrics()` on the same series. */
export async function benchScraping(): Promise<Comparison[]> {
  const registry = registryOf();
  const exposition = new Exposition();
  const unchanged = familyOf(0);
  const changed = Array.from({ length: ROUNDS + 1 }, (_, round) => familyOf(round));
  const [unchangedMs = 0, changedMs = 0, clientMs = 0] = await alternate(ROUNDS, [
    () => exposition.render([unchanged], 'text'),
    () => exposition.render([changed.pop() ?? unchanged], 'text'),
    () => registry.metrics(),
  ]);
  return [
    ['nothing new since the last one', unchangedMs] as const,
    ['all new since the last one', changedMs] as const,
  ].map(([name, value]) => ({
    name: `scrape of ${SERIES} series, ${name}`,
    reference: 'metrics() of prom-client',
    unit: 'ms',
    value,
    referenceValue: clientMs,
    ratio: clientMs / value,
  }));
}
