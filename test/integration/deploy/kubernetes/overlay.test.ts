import { test } from 'node:test';
import { readDeployFile } from '../../../support/deploy-files.ts';
import { assertGolden } from '../../../support/fixtures.ts';

test('the overlay has the rules of deploy/prometheus/rules as an object of the Operator', () => {
  const groups = readDeployFile('prometheus/rules/alerts.yml').replaceAll(/^(?=.)/gm, '  ');
  const header = [
    '# Made from deploy/prometheus/rules by `UPDATE_GOLDEN=1 npm test -- kubernetes`.',
    'apiVersion: monitoring.coreos.com/v1',
    'kind: PrometheusRule',
    'metadata:',
    '  name: xvs-exporter-alerts',
    'spec:',
  ];
  assertGolden(
    '../../deploy/kubernetes/overlays/monitoring/prometheusrule.yaml',
    `${header.join('\n')}\n${groups}`,
  );
});
