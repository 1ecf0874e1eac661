import assert from 'node:assert/strict';
import { readFileSync, truncateSync } from 'node:fs';
import { test } from 'node:test';
import { Program, PROGRAM_PATH, SETTINGS } from '../../support/program.ts';
import { TemporaryFolder } from '../../support/temporary-folder.ts';
import { waitUntil } from '../../support/wait-until.ts';

const EXPORTER = `exec "${process.execPath}" "${PROGRAM_PATH}"`;
const LISTENING = /"port":(\d+),"msg":"Listening"/;

function startInShell(script: string): Program {
  return new Program('bash', ['-c', script], SETTINGS);
}

/** Makes the exporter log until lines are dropped, while it serves metrics. */
async function waitForDroppedLines(exporter: Program, port: string): Promise<void> {
  const dropped = await waitUntil(
    async () => {
      // Each reload is at least one line.
      exporter.signal('SIGHUP');
      const response = await fetch(`http://127.0.0.1:${port}/metrics`);
      assert.equal(response.status, 200);
      return /^xvs_exporter_log_lines_dropped_total (\d+)/m.exec(await response.text())?.[1];
    },
    (count) => count === undefined || Number(count) > 1,
  );
  assert.notEqual(dropped, undefined, 'no counter of dropped lines');
}

test('the exporter continues when its log file reaches the limit on file sizes, and logs again once it has space', async () => {
  using folder = new TemporaryFolder();
  const log = folder.at('log');
  await using exporter = startInShell(`ulimit -f 4; ${EXPORTER} 2>>"${log}"`);
  const readPort = (): string | undefined => LISTENING.exec(readLog(log))?.[1];
  const port = await waitUntil(readPort, (found) => found !== undefined);
  await waitForDroppedLines(exporter, port ?? '');
  truncateSync(log);
  exporter.signal('SIGTERM');
  assert.equal(await exporter.exitCode, 0);
  // A reload may have ended after the log was truncated.
  assert.match(readLog(log), /^\n(?:.*\n)*?.*"msg":"Shutting down"/);
});

test('the exporter continues when the reader of its log closes the pipe', async () => {
  await using exporter = startInShell(`${EXPORTER} 2> >(sed --unbuffered /Listening/q)`);
  await waitForDroppedLines(exporter, await exporter.waitForOutput(LISTENING));
  exporter.signal('SIGTERM');
  assert.equal(await exporter.exitCode, 0);
});

test('the exporter does not start if it cannot log at all', async () => {
  await using exporter = startInShell(`${EXPORTER} 2>/dev/full`);
  assert.equal(await exporter.exitCode, 1);
});

function readLog(path: string): string {
  try {
    return readFileSync(path, 'utf8');
  } catch {
    // The shell has not created it yet.
    return '';
  }
}
