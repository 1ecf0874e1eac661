import type { Dashboard, Panel, Variable } from '../../../support/grafana.ts';

/** Returns the violations of a rule in a dashboard. */
export type DashboardRule = (dashboard: Dashboard) => readonly string[];

/** Values of variables that make an expression valid PromQL. */
export const PLACEHOLDER_VALUES = {
  cluster: 'a-cluster',
  namespace: 'a-namespace',
  job: 'a-job',
  instance: 'an-instance',
  service_code: 'CODE',
  vs_id: 'a-server',
  task_id: 'a-task',
  __range: '434343s',
  __rate_interval: '424242s',
};

/** Lists the panels that show data. */
export const listDataPanels = ({ panels }: Dashboard): readonly Panel[] =>
  panels.filter(({ type }) => type !== 'row');

/** Returns the violation if the condition holds. */
export const violationIf = (isViolated: boolean, violation: string): readonly string[] =>
  isViolated ? [violation] : [];

/** Lists the variables whose values are a query to Prometheus. */
export function listQueryVariables({ templating }: Dashboard): readonly Variable[] {
  return templating.list.filter(({ type }) => type === 'query');
}
