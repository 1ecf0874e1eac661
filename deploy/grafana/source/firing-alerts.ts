import { SEVERITIES } from './appearance.ts';
import { ALERT_SERIES } from './queries.ts';
import { table } from './tables.ts';

const LABELS = [
  ['alertname', 'Alert'],
  ['severity', 'Severity'],
  ['service_code', 'Service code'],
  ['task_name', 'Stream'],
  ['vs_id', 'Server'],
  ['instance', 'Instance'],
  ['cluster', 'Cluster'],
  ['namespace', 'Namespace'],
] as const;

/**
 * The alerts that fire, from the series that Prometheus and vmalert write. Their labels depend on the rule: only cluster and
 * namespace, whose All value matches series without the label, filter them.
 */
export function firingAlerts() {
  const matchers = 'alertname=~"Xvs.+", cluster=~"$cluster", namespace=~"$namespace"';
  const labels = LABELS.map(([label]) => label).join(', ');
  const since = `time() - ${ALERT_SERIES.since}{${matchers}}`;
  const firing = `${ALERT_SERIES.state}{${matchers}, alertstate="firing"}`;
  return table(
    {
      title: 'Firing alerts',
      description:
        'Alerts that fire at the end of the time range, of all service codes. The age includes the time that an alert was pending.',
      unit: 'sishort',
      span: 24,
      height: 6,
      noValue: 'No alert fires, or Prometheus has not loaded the rules',
    },
    {
      keys: LABELS.map(([label, title]) => ({
        label,
        title,
        ...(label === 'severity' && { mappings: SEVERITIES, width: 90 }),
        ...(label === 'alertname' && { width: 230 }),
        ...(label === 'service_code' && { width: 330 }),
      })),
      columns: [
        {
          title: 'Age',
          expr: `max by (${labels}) (${since} and ignoring (alertstate) ${firing})`,
          unit: 'dtdurations',
        },
      ],
      sortBy: ['Age', 'descending'],
    },
  );
}
