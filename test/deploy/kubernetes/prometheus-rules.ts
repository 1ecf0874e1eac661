import { basename } from 'node:path';
import { repositoryFolder, repositoryText } from '../../support/repository.ts';

/** The shipped files of rules, by name. */
export function ruleFiles(): ReadonlyMap<string, string> {
  const names = repositoryFolder('deploy/prometheus/rules').filter((name) => name.endsWith('.yml'));
  return new Map(names.map((name) => [name, repositoryText('deploy/prometheus/rules', name)]));
}

/** The shipped rules as objects of the Prometheus Operator, one for each file, comments included. */
export function prometheusRules(): string {
  const objects = [...ruleFiles()].map(([name, text]) =>
    [
      'apiVersion: monitoring.coreos.com/v1',
      'kind: PrometheusRule',
      'metadata:',
      `  name: xvs-exporter-${basename(name, '.yml')}`,
      'spec:',
      text.trimEnd().replaceAll(/^(?=.)/gm, '  '),
    ].join('\n'),
  );
  const note = '# Made from deploy/prometheus/rules by `UPDATE_GOLDEN=1 npm test -- kubernetes`.';
  return `${note}\n${objects.join('\n---\n')}\n`;
}
