import assert from 'node:assert/strict';
import { createServer } from 'node:http';
import { test } from 'node:test';
import { CATALOGUE } from '../../src/metrics/catalogue/catalogue.ts';
import { withTotals } from '../../src/metrics/catalogue/sample-columns.ts';
import { render } from '../support/render.ts';
import { parseSeries } from '../support/series.ts';
import { ScriptedExporter } from './scripted-exporter.ts';

const CODE = 'TESTING';
const INPUT = `${CATALOGUE.inputBytes.name}{service_code="${CODE}",vs_id="s1"}`;

test('two polls before a scrape lose no increase, and pages and once show the total meanwhile', async () => {
  let bytes = 0;
  const server = createServer((_, response) => {
    bytes += 1000;
    const task = { id: 't', vs_id: 's1', input_bytes: bytes, inputs: [], outputs: [] };
    response.end(JSON.stringify({ ret: 0, user_list: [], task_list: bytes === 1000 ? [] : [task] }));
  });
  await using exporter = await ScriptedExporter.start({ serviceCodes: [CODE], server });
  for (let poll = 0; poll < 4; poll += 1) await exporter.poll({ isScraped: false });
  const { facade } = exporter.exporter;
  const { families } = await facade.collect();
  assert.equal(parseSeries(render(families.map(withTotals), 'text')).get(INPUT), 4000);
  assert.equal(facade.getStatus(CODE)?.totals?.ingress, 1000 / 15);
  for (const [expected, comment] of [
    [0, 'the first scrape'],
    [0, 'a second scrape of the same listing'],
  ] as const) {
    assert.equal((await exporter.read()).get(INPUT), expected, comment);
  }
  await exporter.poll();
  assert.equal((await exporter.read()).get(INPUT), 5000);
});
