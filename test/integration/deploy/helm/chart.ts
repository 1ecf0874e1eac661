import { spawnSync } from 'node:child_process';
import { repositoryPath } from '../../../support/repository.ts';
import { parseManifests, type Manifest } from '../kubernetes/manifests.ts';

/** Values of the chart, in the form of `values.yaml`. */
export type Values = Readonly<Record<string, unknown>>;

/** The result of a Helm command. */
export interface HelmRun {
  readonly status: number | null;
  readonly stdout: string;
  readonly stderr: string;
}

const CHART = repositoryPath('deploy/helm/xvs-exporter');

/** Runs Helm on the shipped chart, with values that override the defaults. */
export function runHelm(command: readonly string[], values: Values = {}): HelmRun {
  return spawnSync('helm', [...command, CHART, '--values=-'], {
    encoding: 'utf8',
    input: JSON.stringify(values),
    maxBuffer: 64 * 1024 * 1024,
  });
}

/** Renders the manifests that Helm installs for a release. */
export function renderChart(values: Values = {}, release = 'xvs-exporter'): readonly Manifest[] {
  const { status, stdout, stderr } = runHelm(['template', release, '--namespace=live'], values);
  // Helm tells that it follows the links to rules and dashboards.
  const problems = stderr.replaceAll(/^level=INFO .*\n/gm, '');
  if (status !== 0 || problems !== '')
    throw new Error(`Expected helm template to succeed, found:\n${problems}`);
  return parseManifests(stdout);
}
