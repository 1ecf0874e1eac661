import assert from 'node:assert/strict';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { startProgram } from '../../support/program.ts';
import {
  certificateFolder,
  clientCertificate,
  HASH,
  PASSWORD,
  requestOverHttps,
} from '../../unit/web/secured-server.ts';
import { basicAuthorization } from './attacked-exporter.ts';

const SECTIONS = [
  `basic_auth_users:\n  prometheus: ${HASH}\n`,
  'tls_server_config:\n  cert_file: server.pem\n  key_file: server.key\n',
  '  min_version: TLS13\n',
  '  client_ca_file: ca.pem\n  client_auth_type: RequireAndVerifyClientCert\n',
];

test(
  'a web configuration truncated at any byte keeps every protection until a restart',
  { timeout: 600_000 },
  async (t) => {
    const folder = certificateFolder(t);
    const path = join(folder, 'web.yml');
    const start = () =>
      startProgram(['--web.listen-address=127.0.0.1:0', `--web.config.file=${path}`], {
        XVS_UPSTREAM_BASE_URL: 'http://127.0.0.1:1',
        XVS_SERVICE_CODES: 'A',
        XVS_SECRET: 'abc',
      });
    const headers = { authorization: basicAuthorization('prometheus', PASSWORD) };
    const allowed = clientCertificate('client');
    const scrape = async (port: number, options: Parameters<typeof requestOverHttps>[2]) => {
      try {
        const { status } = await requestOverHttps(port, '/metrics', options);
        return status;
      } catch {
        return 'no response';
      }
    };
    writeFileSync(path, SECTIONS.join(''));
    {
      await using exporter = start();
      const port = await exporter.waitForPort();
      for (let count = SECTIONS.length - 1; count >= 0; count -= 1) {
        const before = exporter.stderr.length;
        writeFileSync(path, SECTIONS.slice(0, count).join(''));
        await exporter.waitForOutput(
          new RegExp(
            `^[^]{${before}}[^]*"msg":"Web configuration (?:change|reload)[^"]*keeping the previous one"`,
          ),
        );
        const outcomes = [
          await scrape(port, { ...allowed, headers }),
          await scrape(port, allowed),
          await scrape(port, { ...clientCertificate('self-signed'), headers }),
          await scrape(port, { headers }),
          await scrape(port, { ...allowed, headers, maxVersion: 'TLSv1.2' }),
        ];
        assert.deepEqual(
          outcomes,
          [200, 401, 'no response', 'no response', 'no response'],
          `${count} sections`,
        );
      }
      assert.equal(exporter.stderr.match(/"msg":"Web configuration loaded"/g)?.length, 1);
    }
    writeFileSync(path, SECTIONS.slice(0, 2).join(''));
    await using restarted = start();
    assert.equal(await scrape(await restarted.waitForPort(), { headers }), 200);
  },
);
