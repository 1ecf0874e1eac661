import { spawnSync } from 'node:child_process';
import { repositoryPath } from '../../support/repository.ts';
import { parseManifests, type Manifest } from '../kubernetes/manifests.ts';

/** Values for the chart, as `values.yaml` has them. */
export type Values = Readonly<Record<string, unknown>>;

/** How a command of Helm ended. */
export interface HelmRun {
  readonly status: number | null;
  readonly stdout: string;
  readonly stderr: string;
}

const CHART = repositoryPath('deploy/helm/xvs-exporter');

/** Runs Helm on the shipped chart, with values beside its own. */
export function runHelm(command: readonly string[], values: Values = {}): HelmRun {
  return spawnSync('helm', [...command, CHART, '--values=-'], {
    encoding: 'utf8',
    input: JSON.stringify(values),
    maxBuffer: 64 * 1024 * 1024,
  });
}

/** What Helm would install, as a release of that name. */
export function renderChart(values: Values = {}, release = 'xvs-exporter'): readonly Manifest[] {
  const { status, stdout, stderr } = runHelm(['template', release, '--namespace=live'], values);
  if (status !== 0 || stderr !== '') throw new Error(`Expected Helm to render, found:\n${stderr}`);
  return parseManifests(stdout);
}
