import assert from 'node:assert/strict';
import { test } from 'node:test';
import { isLinux } from '../../support/linux.ts';
import { SETTINGS, startProgram } from '../../support/program.ts';
import { findClosedPort } from '../../support/servers.ts';
import { RunningExporter } from './running-exporter.ts';

test('log, page and report name the address that refuses, and ask whether it is the right one', async (t) => {
  if (!isLinux(t, '127.0.0.2')) return;
  const address = `127.0.0.9:${await findClosedPort()}`;
  const settings = { ...SETTINGS, XVS_UPSTREAM_BASE_URL: `http://${address}` };
  const message = `Could not connect to the service (ECONNREFUSED ${address})`;
  const remedy = `${address} refused the connection; is that the address of the service?`;

  await using program = startProgram([], settings);
  const exporter = await RunningExporter.attach(program);
  const line = await exporter.waitForLog(/^.*"Poll failed".*$/m);
  const page = await exporter.fetchText('/service-codes/?service_code=TESTING');
  await using report = startProgram(['once', '--explain'], settings);
  assert.equal(await report.exitCode, 1);
  for (const shown of [line, page, report.stdout.replaceAll(/\s+/g, ' ')]) {
    assert.ok(shown.includes(message), shown);
    assert.ok(shown.includes(remedy), shown);
    assert.doesNotMatch(shown, /abc/);
  }
});
