import { basename } from 'node:path';
import { listRepositoryFolder, readRepositoryFile } from '../../../support/repository.ts';

/** Reads the shipped rule files by name. */
export function readRuleFiles(): ReadonlyMap<string, string> {
  const names = listRepositoryFolder('deploy/prometheus/rules').filter((name) => name.endsWith('.yml'));
  return new Map(names.map((name) => [name, readRepositoryFile('deploy/prometheus/rules', name)]));
}

/** Formats each shipped rule file as an object of the Prometheus Operator, with its comments. */
export function formatPrometheusRules(): string {
  const objects = [...readRuleFiles()].map(([name, text]) =>
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
