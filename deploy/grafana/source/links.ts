import { SCOPE } from './queries.ts';

export const UIDS = {
  overview: 'xvs-overview',
  serviceCode: 'xvs-service-code',
  exporter: 'xvs-exporter',
  task: 'xvs-task',
} as const;

/** Where the runbook is published: `npm run project` writes it here, `npm run rules` into the dashboards. */
const RUNBOOK_URL = 'https://example.com/xvs-exporter/runbook.md';
/** Where the exporter's pages are: the default of the variable `exporter_url`. */
export const EXPORTER_URL = 'https://xvs-exporter.example.com';

export interface DataLink {
  readonly title: string;
  readonly url: string;
}

/** A link to another dashboard that keeps time and scope, and sets further variables. */
function linkTo(uid: string, title: string, ...parameters: readonly string[]): DataLink {
  const kept = ['__url_time_range', ...['datasource', ...SCOPE].map((name) => `${name}:queryparam`)];
  const query = [...kept.map((name) => `\${${name}}`), ...parameters].join('&');
  return { title, url: `/d/${uid}?${query}` };
}

/** To the single tasks, of which the table has the stalled ones first. */
export const TASKS_LINK = linkTo(UIDS.task, 'Tasks', '${service_code:queryparam}');

/** The dashboards about the values of a label. A server is in a row of a service code. */
const DASHBOARDS: Readonly<Record<string, readonly [uid: string, title: string]>> = {
  service_code: [UIDS.serviceCode, 'Service code'],
  vs_id: [UIDS.serviceCode, 'Server'],
  instance: [UIDS.exporter, 'Exporter'],
};

function listLinks(label: string, value: string): readonly DataLink[] {
  const [uid, title] = DASHBOARDS[label] ?? [];
  return uid === undefined ? [] : [linkTo(uid, title ?? '', `var-${label}=\${${value}}`)];
}

/** The links of a table cell with the value of a label. */
export function linksOfCell(label: string): readonly DataLink[] {
  if (label === 'alertname') return [{ title: 'Runbook', url: `${RUNBOOK_URL}#\${__value.raw}` }];
  const page = `\${exporter_url}/service-codes/?service_code=\${__value.raw:percentencode}`;
  const pages = label === 'service_code' ? [{ title: 'Page of the exporter', url: page }] : [];
  return [...listLinks(label, '__value.raw'), ...pages];
}

/** The links of series whose legends have labels. */
export function linksOfLegend(legend: string): readonly DataLink[] {
  return [...legend.matchAll(/\{\{(\w+)\}\}/g)].flatMap(([, label = '']) =>
    listLinks(label, `__field.labels.${label}`),
  );
}
