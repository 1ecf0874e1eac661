import assert from 'node:assert/strict';
import { once } from 'node:events';
import { connect } from 'node:net';
import { after, before, test } from 'node:test';
import fc from 'fast-check';
import { findClosedPort } from '../../support/servers.ts';
import { startProgram, type Program } from '../../support/program.ts';
import { readFixture } from '../../support/fixtures.ts';
import { mutateBytes } from './mutation.ts';
import { createRunParameters } from '../../support/run-parameters.ts';

const SECRET = 'request-horse-battery';
const CODES = ['TESTING', 'TESTING 2', 'a&b=c'];

let program: Program;
let port = 0;

before(async () => {
  const yml = { XVS_SERVICE_CODES: CODES.join(','), XVS_SECRET: SECRET };
  program = startProgram([], {
    ...yml,
    XVS_UPSTREAM_BASE_URL: `http://127.0.0.1:${await findClosedPort()}`,
    XVS_WEB_LISTEN_ADDRESS: '127.0.0.1:0',
    XVS_LOG_LEVEL: 'debug',
  });
  port = await program.waitForPort();
});

after(async () => {
  await program[Symbol.asyncDispose]();
});

/** Sends some bytes, ends the connection and returns the response. */
async function sendBytes(bytes: Uint8Array): Promise<string> {
  const socket = connect(port, '127.0.0.1');
  let answer = '';
  socket.setEncoding('latin1').on('data', (text) => {
    answer += String(text);
  });
  // The server may reset a connection after invalid bytes.
  socket.on('error', () => undefined);
  socket.end(bytes);
  await once(socket, 'close');
  return answer;
}

const fetchHealthStatus = async (): Promise<number> => {
  const response = await fetch(`http://127.0.0.1:${port}/-/healthy`);
  await response.text();
  return response.status;
};

const unit = fc.oneof(
  fc.constantFrom(...'service_code= service_code & = % %41 %zz + ; ? %00 %ff x='.split(' ')),
  fc.constantFrom(...CODES, ...CODES.map(encodeURIComponent), 'TESTING%202', 'NOBODY'),
  fc.string({ unit: fc.constantFrom(..."abcXYZ019-._~!$'()*,:@/"), maxLength: 4 }),
);
const query = fc.array(unit, { maxLength: 8 }).map((units) => units.join('').replaceAll(' ', '+'));

function isDecodable(text: string): boolean {
  try {
    decodeURIComponent(text);
    return true;
  } catch {
    return false;
  }
}

test('any query selects its service code, and the response contains no unknown code', async () => {
  await fc.assert(
    fc.asyncProperty(query, async (text) => {
      const parameters = new URLSearchParams(`?${text}`);
      const codes = parameters.getAll('service_code');
      const isKnown = codes.every((code) => CODES.includes(code));
      const isInvalid = codes.length > 1 || codes.includes('') || !isDecodable(text);
      const status = isInvalid ? 400 : isKnown ? 200 : 404;
      const response = await fetch(`http://127.0.0.1:${port}/metrics?${text}`);
      const body = await response.text();
      assert.equal(response.status, status, text);
      if (status === 200) {
        const shown = CODES.filter((code) => body.includes(`service_code="${code}"`));
        assert.deepEqual(shown, codes.length === 0 ? CODES : codes);
      } else {
        assert.equal(body.split('\n').length, 2);
        assert.doesNotMatch(body, /NOBODY/);
      }
    }),
    createRunParameters(32),
  );
});

const CORPUS = readFixture('fuzz/requests.txt')
  .toString()
  .split('\n---\n')
  .map((text) => Buffer.from(`${text.trim().replaceAll('\n', '\r\n')}\r\n\r\n`));

const DICTIONARY = [
  [...'/?#%&= :\r\n\t\0'],
  ['\r\n', '\r\n\r\n', 'OPTIONS *'],
  'HTTP/1.1 HTTP/2.0 HTTP/1.0 GET POST CONNECT TRACE'.split(' '),
  '/metrics //metrics /-/healthy /../ %2e%2e/ /sd http://x/metrics ?service_code= %zz *'.split(' '),
  ['Host: a', 'Host: [::1]:x', 'Content-Length: 5', 'Content-Length: -1', 'Transfer-Encoding: chunked'],
  ['Connection: upgrade', 'Upgrade: h2c', 'Expect: 100-continue', 'Accept: ', 'Accept-Encoding: gzip;q='],
  ['X: '.padEnd(20_000, 'x')],
].flat();

test('after any bytes, it responds in HTTP or closes the connection, stays healthy and logs no error', async () => {
  await fc.assert(
    fc.asyncProperty(mutateBytes(CORPUS, DICTIONARY), async (bytes) => {
      const answer = await sendBytes(bytes);
      if (answer !== '')
        assert.match(answer, /^HTTP\/1\.1 (?:200|400|403|404|405|408|413|414|417|431|501|503|505) /);
      assert.equal(answer.includes(SECRET), false);
    }),
    createRunParameters(64),
  );
  assert.equal(await fetchHealthStatus(), 200);
  assert.doesNotMatch(program.stderr, /"level":"error"|"level":"fatal"|Request failed|Warning/);
  assert.equal((program.stdout + program.stderr).includes(SECRET), false);
});
