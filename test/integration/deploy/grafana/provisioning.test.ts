import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { parse } from 'yaml';
import { z } from 'zod';
import { parseDuration } from '../../../../src/config/units.ts';

function readYaml(path: string): unknown {
  return parse(readFileSync(fileURLToPath(new URL(`../../../../../${path}`, import.meta.url)), 'utf8'));
}

const dataSources = z.strictObject({
  apiVersion: z.literal(1),
  datasources: z.tuple([
    z.strictObject({
      name: z.string(),
      uid: z.string(),
      type: z.literal('prometheus'),
      access: z.literal('proxy'),
      url: z.url(),
      isDefault: z.literal(true),
      editable: z.boolean(),
      jsonData: z.strictObject({ httpMethod: z.literal('POST'), timeInterval: z.string() }),
    }),
  ]),
});

const providers = z.strictObject({
  apiVersion: z.literal(1),
  providers: z.tuple([
    z.strictObject({
      name: z.string(),
      type: z.literal('file'),
      folder: z.string(),
      folderUid: z.string(),
      allowUiUpdates: z.literal(false),
      disableDeletion: z.boolean(),
      updateIntervalSeconds: z.int().positive(),
      options: z.strictObject({ path: z.literal('/var/lib/grafana/dashboards') }),
    }),
  ]),
});

const prometheus = z.looseObject({ global: z.looseObject({ scrape_interval: z.string() }) });
const settings = z.looseObject({ poll: z.looseObject({ interval: z.string() }) });

test('the interval of the data source is the longer of scrape interval and poll interval', () => {
  const { datasources } = dataSources.parse(
    readYaml('deploy/grafana/provisioning/datasources/prometheus.yml'),
  );
  const scraped = prometheus.parse(readYaml('deploy/prometheus/prometheus.yml')).global.scrape_interval;
  const polled = settings.parse(readYaml('config/full.yml')).poll.interval;
  assert.equal(
    parseDuration(datasources[0].jsonData.timeInterval),
    Math.max(parseDuration(scraped) ?? Number.NaN, parseDuration(polled) ?? Number.NaN),
  );
});

test('Grafana loads dashboards from the folder that the README mounts', () => {
  const [{ options }] = providers.parse(
    readYaml('deploy/grafana/provisioning/dashboards/xvs-exporter.yml'),
  ).providers;
  const readme = readFileSync(
    fileURLToPath(new URL('../../../../../deploy/grafana/README.md', import.meta.url)),
    'utf8',
  );
  assert.ok(readme.includes(`/deploy/grafana/dashboards:${options.path}:ro`));
});
