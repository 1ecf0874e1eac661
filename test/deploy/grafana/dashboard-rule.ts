import type { Dashboard, Panel, Variable } from '../../support/grafana.ts';

/** What a rule has to say against a dashboard. */
export type DashboardRule = (dashboard: Dashboard) => readonly string[];

/** Stand-ins for variables, under which an expression is PromQL. */
export const PLACEHOLDER_VALUES = {
  cluster: 'a-cluster',
  namespace: 'a-namespace',
  job: 'a-job',
  instance: 'an-instance',
  service_code: 'CODE',
  vs_id: 'a-server',
  task_id: 'a-task',
  __rate_interval: '424242s',
};

/** The panels that show data. */
export const listDataPanels = ({ panels }: Dashboard): readonly Panel[] =>
  panels.filter(({ type }) => type !== 'row');

/** A complaint, if there is one. */
export const violationIf = (isWrong: boolean, complaint: string): readonly string[] =>
  isWrong ? [complaint] : [];

/** The variables that are asked of Prometheus. */
export function listQueryVariables({ templating }: Dashboard): readonly Variable[] {
  return templating.list.filter(({ type }) => type === 'query');
}
