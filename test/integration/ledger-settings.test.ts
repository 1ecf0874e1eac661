import assert from 'node:assert/strict';
import { createServer } from 'node:http';
import { test } from 'node:test';
import { ScriptedExporter, type ScriptedOptions } from './scripted-exporter.ts';

const CODE = 'TESTING';
const ID = 'task-1';

const LABELS = `{service_code="${CODE}",vs_id="s1"}`;
const IMPLAUSIBLE = `xvs_byte_count_implausible_total{service_code="${CODE}",direction=`;

function createListing(inputBytes: number | undefined, outputBytes = 0): string {
  const outputs = [{ format: 'flv', file_name: 'f', http_output_bytes: outputBytes }];
  const task = { id: ID, vs_id: 's1', input_bytes: inputBytes, inputs: [], outputs };
  return JSON.stringify({ ret: 0, user_list: [], task_list: inputBytes === undefined ? [] : [task] });
}

/** Polls each listing, 15 s apart, and returns the series after the last one. */
async function pollListings(listings: readonly string[], ledger: ScriptedOptions['ledger'] = {}) {
  let latest = '';
  const server = createServer((_, response) => response.end(latest));
  await using exporter = await ScriptedExporter.start({ serviceCodes: [CODE], server, ledger });
  for (latest of listings) await exporter.poll();
  return await exporter.read();
}

for (const [maxStreamRate, implausibleCount] of [
  [100, 1],
  [101, 0],
] as const) {
  test(`a task and an output gain 1,515 bytes in 15 s with streams of ${maxStreamRate} bytes per second`, async () => {
    const listings = [createListing(0), createListing(1515, 1515), createListing(1515, 1515)];
    const series = await pollListings(listings, { maxStreamRate });
    assert.equal(series.get(`${IMPLAUSIBLE}"input"}`), implausibleCount);
    assert.equal(series.get(`${IMPLAUSIBLE}"http_output"}`), implausibleCount);
  });
}

for (const [rememberTasksForMs, startedCount] of [
  [60_000, 0],
  [14_000, 1],
] as const) {
  test(`a task that returns after 30 s is remembered for ${rememberTasksForMs} ms`, async () => {
    const listings = [createListing(5), createListing(undefined), createListing(undefined), createListing(5)];
    const series = await pollListings([...listings, createListing(5)], { rememberTasksForMs });
    assert.equal(series.get(`xvs_tasks_started_total${LABELS}`) ?? 0, startedCount);
  });
}
