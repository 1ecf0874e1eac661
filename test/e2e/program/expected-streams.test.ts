import assert from 'node:assert/strict';
import { writeFileSync } from 'node:fs';
import { test } from 'node:test';
import { startProgram } from '../../support/program.ts';
import { setFault, startSimulatorProgram } from '../../support/simulator-program.ts';
import { TemporaryFolder } from '../../support/temporary-folder.ts';

test('the log says which expected streams are missing at the start, and which stop later', async () => {
  using folder = new TemporaryFolder();
  await using simulator = startSimulatorProgram('--service-code=TESTING:abc', '--stream=main');
  const url = await simulator.waitForUrl();
  const configuration = {
    upstream: { base_url: url },
    secret: 'abc',
    poll: { interval: '1s', stall_after: '2s' },
    tasks: { name: 'opaque.room' },
    service_codes: [{ service_code: 'TESTING', expect: { names: ['main', 'ghost'] } }],
    web: { listen_address: '127.0.0.1:0' },
  };
  writeFileSync(folder.at('config.json'), JSON.stringify(configuration));
  await using exporter = startProgram([`--config.file=${folder.at('config.json')}`]);
  await exporter.waitForOutput(/"Expected streams fall short"/);
  await setFault(url, { fault: 'freeze_ingest', name: 'main' });
  await exporter.waitForOutput(/main stalled/);
  const lines = exporter.stderr.match(/.*Expected streams.*/g) ?? [];
  assert.deepEqual(
    lines.map((line) => {
      const { level, service_code: code, count, streams } = JSON.parse(line);
      return [level, code, count, String(streams).replace(/\d{4}-.*Z/, 'TIME')];
    }),
    [
      ['warn', 'TESTING', 1, 'ghost missing'],
      ['warn', 'TESTING', 1, 'main stalled since TIME'],
    ],
  );
});
