import assert from 'node:assert/strict';
import { writeFileSync } from 'node:fs';
import { test } from 'node:test';
import { parse } from 'yaml';
import { z } from 'zod';
import { readDeployFile } from '../../../support/deploy-files.ts';
import { isInstalled } from '../../../support/installed-programs.ts';
import { runPromtool } from '../../../support/promtool.ts';
import { readRepositoryFile } from '../../../support/repository.ts';
import { TemporaryFolder } from '../../../support/temporary-folder.ts';
import { validateManifest, parseManifests } from '../kubernetes/manifests.ts';

const [, section = ''] = readRepositoryFile('docs/service-codes.md').split(
  '## A target for each service code',
);
const [servers = '', scrapeConfig = ''] = [...section.matchAll(/^```yaml\n(.*?)^```$/gms)].map(
  ([, text = '']) => text,
);

const jobs = z.object({ scrape_configs: z.array(z.looseObject({ job_name: z.string() })) });

/** Returns the shipped configuration with more settings in its job. */
function createDiscoveryConfig(more: unknown): unknown {
  const config: unknown = parse(readDeployFile('prometheus/prometheus-sd.yml'));
  const { scrape_configs: all } = jobs.parse(config);
  return { scrape_configs: all.map((job) => ({ ...job, ...z.looseObject({}).parse(more) })) };
}

test('promtool accepts the example of the page for several servers', async (t) => {
  if (!isInstalled(t, 'promtool')) return;
  using folder = new TemporaryFolder();
  const config = createDiscoveryConfig(parse(servers));
  writeFileSync(folder.at('prometheus.yml'), JSON.stringify(config));
  assert.match(await runPromtool(['check', 'config', folder.at('prometheus.yml')]), /SUCCESS/);
});

test('the job of shards differs from that of one process only in its targets', () => {
  const readJobs = (path: string) =>
    jobs
      .parse(parse(readDeployFile(path)))
      .scrape_configs.map((job) => ({ ...job, http_sd_configs: undefined }));
  assert.deepEqual(readJobs('prometheus/prometheus-shards.yml'), readJobs('prometheus/prometheus-sd.yml'));
});

test('the ScrapeConfig follows the schema of the Operator', () => {
  const manifests = parseManifests(scrapeConfig);
  assert.equal(manifests.length, 1);
  assert.deepEqual(manifests.flatMap(validateManifest), []);
});
