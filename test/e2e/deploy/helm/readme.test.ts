import assert from 'node:assert/strict';
import { test } from 'node:test';
import { ServiceMonitor } from '@kubernetes-models/prometheus-operator/monitoring.coreos.com/v1';
import { StatefulSet } from 'kubernetes-models/apps/v1';
import { NetworkPolicy } from 'kubernetes-models/networking.k8s.io/v1';
import { parse } from 'yaml';
import { z } from 'zod';
import { basicAuthorization, HASH, PASSWORD } from '../../../unit/web/secured-server.ts';
import { readFixture } from '../../../support/fixtures.ts';
import { isInstalled } from '../../../support/installed-programs.ts';
import { readRepositoryFile } from '../../../support/repository.ts';
import { getSingle, validateManifest } from '../../../integration/deploy/kubernetes/manifests.ts';
import { getPod } from '../../../integration/deploy/kubernetes/workload-checks.ts';
import { assertPodWorks } from '../../../integration/deploy/kubernetes/running-pod.ts';
import { renderChart, type Values } from '../../../integration/deploy/helm/chart.ts';

const CHART = 'deploy/helm/xvs-exporter';
const README = readRepositoryFile(CHART, 'README.md');

/** The YAML blocks of the README: values, web.yml, and the values for it. */
const [example = '', webYaml = '', tls = ''] = [...README.matchAll(/```yaml\n(.*?)```/gs)].map(
  ([, block = '']) => block,
);

function parseValues(yaml: string): Values {
  return z.record(z.string(), z.unknown()).parse(parse(yaml));
}

test('the example of the README renders valid manifests', (t) => {
  if (!isInstalled(t, 'helm')) return;
  const manifests = renderChart(parseValues(example));
  assert.deepEqual(manifests.flatMap(validateManifest), []);
  const rendered = JSON.stringify(manifests);
  const { version } = JSON.parse(readRepositoryFile('package.json'));
  assert.ok(rendered.includes(`"image":"registry.example.org/video/xvs-exporter:${version}"`));
  assert.match(
    rendered,
    /"for":"5m","keep_firing_for":"4m","labels":\{"layer":"data","severity":"critical","team":"video"\}/,
  );
  assert.match(rendered, /"grafana_dashboard":"1"/);
});

test('the values for OpenShift leave user and groups to it, and allow its DNS', (t) => {
  if (!isInstalled(t, 'helm')) return;
  const [context = '', egress = ''] = [...README.matchAll(/`((?:podSecurityContext|egress): [^`]*)`/g)].map(
    ([, yaml = '']) => yaml,
  );
  const networkPolicy = { enabled: true, ...parseValues(egress) };
  const manifests = renderChart({ ...parseValues(context), networkPolicy });
  assert.deepEqual(manifests.flatMap(validateManifest), []);
  const { securityContext } = getPod(getSingle(manifests, StatefulSet.is)).spec;
  assert.deepEqual(Object.keys(securityContext ?? {}).toSorted(), ['runAsNonRoot', 'seccompProfile']);
  const rules = getSingle(manifests, NetworkPolicy.is).spec?.egress ?? [];
  const ports = [
    { port: 5353, protocol: 'UDP' },
    { port: 5353, protocol: 'TCP' },
  ];
  assert.deepEqual(rules.at(-1), { ports });
});

test('the TLS recipe of the README works: probes, helm test and scrape with a password', async (t) => {
  if (!isInstalled(t, 'helm')) return;
  const manifests = renderChart(parseValues(tls));
  assert.deepEqual(manifests.flatMap(validateManifest), []);
  const [endpoint] = getSingle(manifests, ServiceMonitor.is).spec.endpoints;
  assert.equal(endpoint?.scheme, 'https');
  assert.ok(endpoint.basicAuth?.username !== undefined && endpoint.basicAuth.password !== undefined);
  await assertPodWorks(manifests, endpoint.path ?? '', {
    secrets: {
      'web.yml': webYaml.replace('<bcrypt hash>', `'${HASH}'`),
      'tls.crt': readFixture('tls/server.pem'),
      'tls.key': readFixture('tls/server.key'),
    },
    scrape: { scheme: 'https', authorization: basicAuthorization('prometheus', PASSWORD) },
  });
});
