import { ALERT_SERIES } from './queries.ts';
import { table } from './tables.ts';

const KEYS = [
  { label: 'alertname', title: 'Alert', width: 230 },
  { label: 'service_code', title: 'Service code', width: 330 },
  { label: 'task_name', title: 'Stream' },
  { label: 'vs_id', title: 'Server' },
  { label: 'instance', title: 'Instance' },
  { label: 'cluster', title: 'Cluster' },
  { label: 'namespace', title: 'Namespace' },
];

/** The alerts that fire, from the series that Prometheus and vmalert write: critical ones, and warnings. */
export function firingAlerts() {
  return [
    alertTable(
      'Critical alerts',
      'No critical alert fires, or Prometheus has not loaded the rules',
      'critical',
    ),
    alertTable('Warnings', 'No warning fires, or Prometheus has not loaded the rules', 'warning'),
  ];
}

/**
 * The labels of alerts depend on the rule: only cluster and namespace, whose All value matches series without the label, filter
 * them.
 */
function alertTable(title: string, noValue: string, severity: string) {
  const matchers = `alertname=~"Xvs.+", severity="${severity}", cluster=~"$cluster", namespace=~"$namespace"`;
  const since = `time() - ${ALERT_SERIES.since}{${matchers}}`;
  const firing = `${ALERT_SERIES.state}{${matchers}, alertstate="firing"}`;
  return table(
    {
      title,
      description:
        'Alerts that fire at the end of the time range, of all service codes. The age includes the time that an alert was pending.',
      unit: 'sishort',
      span: 24,
      height: 10,
      noValue,
    },
    {
      keys: KEYS,
      columns: [
        {
          title: 'Age',
          expr: `max by (${KEYS.map(({ label }) => label).join(', ')}) (${since} and ignoring (alertstate) ${firing})`,
          unit: 'dtdurations',
        },
      ],
      sortBy: ['Age', 'ascending'],
    },
  );
}
