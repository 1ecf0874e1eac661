import assert from 'node:assert/strict';
import { test } from 'node:test';
import { Chromium, hasChromium } from '../../support/chromium.ts';
import { startProgram } from '../../support/program.ts';
import { clearFaults, setFault, startSimulatorProgram } from '../../support/simulator-program.ts';
import { waitUntil } from '../../support/wait-until.ts';

const CODES = ['STADIUM', 'TESTING'];
const SECRET = 'abc';

test('the page in a browser shows the rates, the failure and the recovery of a service code', async (t) => {
  if (!hasChromium(t)) return;
  await using service = startSimulatorProgram(
    '--users=50',
    '--tasks=20',
    ...CODES.map((code) => `--service-code=${code}:${SECRET}`),
  );
  const url = await service.waitForUrl();
  await using exporter = startProgram(['--poll.interval=1s', '--poll.stale-after=1m'], {
    XVS_UPSTREAM_BASE_URL: url,
    XVS_SERVICE_CODES: CODES.join(','),
    XVS_SECRET: SECRET,
    XVS_WEB_LISTEN_ADDRESS: '127.0.0.1:0',
  });
  const base = `http://127.0.0.1:${await exporter.waitForPort()}`;
  await using browser = await Chromium.launch();
  const page = await browser.newPage();
  await page.goto(base);
  await page.evaluate('globalThis.isTheSamePage = true');
  const state = async (code: string): Promise<string> => {
    const row = page.getByRole('row').filter({ has: page.getByRole('link', { name: code, exact: true }) });
    return (await row.locator('.condition').innerText()).trim();
  };
  const isState = (word: string) => (found: string) => found.split(/\s+/).includes(word);
  const ingress = page.locator('td[data-label="Ingress"] .value').last();

  for (const code of CODES) await waitUntil(() => state(code), isState('up'));
  const before = await waitUntil(
    () => ingress.innerText(),
    (text) => text.endsWith('b/s'),
  );
  await waitUntil(
    () => ingress.innerText(),
    (text) => text !== before && text.endsWith('b/s'),
  );

  const fault = { fault: 'http_status', status: 500, serviceCode: 'TESTING' };
  await setFault(url, fault);
  await waitUntil(() => state('TESTING'), isState('down'));
  assert.deepEqual(await page.locator('.list tbody th').allInnerTexts(), ['TESTING', 'STADIUM']);
  assert.match(
    await page.locator('.list .problem').innerText(),
    /Expected HTTP status 2xx, found 500\. Try:/,
  );
  assert.equal(await page.locator('tbody.down td[data-label="Ingress"] .unknown').count(), 1);
  assert.ok((await page.locator('tbody.down .plot .failed').count()) > 0);

  await clearFaults(url);
  await waitUntil(() => state('TESTING'), isState('up'));
  assert.equal(await page.evaluate('isTheSamePage'), true);

  await page.getByRole('link', { name: 'TESTING' }).click();
  await page.getByRole('heading', { name: 'TESTING', level: 1 }).waitFor();
  assert.ok((await page.locator('.servers tbody tr').count()) > 1);
  await page.getByRole('cell', { name: 'answered with an HTTP error' }).first().waitFor();
  assert.deepEqual(browser.consoleMessages, []);
});
