import { ALERT_SERIES, formatMatcher, type Filter } from './queries.ts';
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

const KEY_LABELS = KEYS.map(({ label }) => label).join(', ');

/** The alerts that fire, from the series that Prometheus and vmalert write: critical ones, and warnings. */
export function firingAlerts(...filters: readonly Filter[]) {
  return [
    alertTable(
      'Critical alerts',
      'No critical alert fires, or Prometheus has not loaded the rules',
      'critical',
      filters,
    ),
    alertTable('Warnings', 'No warning fires, or Prometheus has not loaded the rules', 'warning', filters),
  ];
}

/**
 * The labels of alerts depend on the rule: of the scope, only cluster and namespace, whose All value matches
 * series without the label, filter them. Since when an alert fires only its evaluator knows, which forgets it
 * when it restarts: samples are counted.
 */
function alertTable(title: string, noValue: string, severity: string, filters: readonly Filter[]) {
  const matchers = [
    `alertname=~"Xvs.+", severity="${severity}", alertstate="firing"`,
    ...['cluster', 'namespace', ...filters].map(formatMatcher),
  ].join(', ');
  const firing = `max by (${KEY_LABELS}) (${ALERT_SERIES}{${matchers}})`;
  return table(
    {
      title,
      description:
        'Alerts that fire at the end of the time range, of the service codes of this dashboard. Fired for: the minutes of the time range in which the alert fired.',
      unit: 'sishort',
      span: 24,
      height: filters.length === 0 ? 10 : 6,
      noValue,
    },
    {
      keys: KEYS,
      columns: [
        {
          title: 'Fired for',
          expr: `60 * sum_over_time(${firing}[$__range:1m]) and ${firing}`,
          unit: 'dtdurations',
        },
      ],
      sortBy: ['Fired for', 'ascending'],
    },
  );
}
