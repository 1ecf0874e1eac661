import assert from 'node:assert/strict';
import { test } from 'node:test';
import { ATTACKER_ADDRESS, AttackedExporter, formatRequest } from './attacked-exporter.ts';
import { HostileService } from './hostile-service.ts';

/** More than may wait for polls. */
const CONNECTIONS = 300;

for (const [query, name] of [
  ['?service_code=HANGING', 'of a code that hangs'],
  ['', 'of everything'],
]) {
  test(`scrapes ${name} keep no scrape of a healthy code waiting`, { timeout: 600_000 }, async () => {
    await using service = await HostileService.start((serviceCode, response) => {
      if (serviceCode === 'HEALTHY') response.end('{"ret":0,"user_list":[],"task_list":[]}');
    });
    await using exporter = await AttackedExporter.start({
      XVS_UPSTREAM_BASE_URL: service.url,
      XVS_UPSTREAM_TIMEOUT: '10m',
      XVS_SERVICE_CODES: 'HEALTHY,HANGING',
      XVS_POLL_MODE: 'scrape',
      XVS_POLL_INTERVAL: '10m',
      XVS_POLL_MIN_AGE: '1ms',
    });
    for (let index = 0; index < CONNECTIONS; index += 1) {
      const socket = await exporter.open();
      socket.write(formatRequest(`/metrics${query}`));
    }
    for (let scrape = 0; scrape < 10; scrape += 1) {
      const { status, body } = await exporter.get({ path: '/metrics?service_code=HEALTHY' });
      assert.equal(status, 200);
      assert.match(body, /^xvs_up\{service_code="HEALTHY"\} 1$/m);
      const probe = await exporter.get({ path: '/-/healthy', localAddress: ATTACKER_ADDRESS });
      assert.equal(probe.status, 200);
    }
  });
}
