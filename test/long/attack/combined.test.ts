import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { renameSync, rmSync, writeFileSync } from 'node:fs';
import { Agent } from 'node:http';
import { test } from 'node:test';
import { setTimeout as delay } from 'node:timers/promises';
import { gzipSync } from 'node:zlib';
import { hashSync } from '@node-rs/bcrypt';
import { CATALOGUE } from '../../../src/metrics/catalogue.ts';
import { parseSeries, sumSeries } from '../../support/series.ts';
import { TemporaryFolder } from '../../support/temporary-folder.ts';
import { waitUntil } from '../../support/wait-until.ts';
import { SHIPPED } from '../../support/shipped.ts';
import { basicAuthorization } from '../../unit/web/secured-server.ts';
import { AttackedExporter, formatRequest, nextEvent, PIPELINED } from '../../e2e/attack/attacked-exporter.ts';
import {
  buildFormatsListing,
  buildOutputsListing,
  buildTasksListing,
  buildTasksWithNewIds,
  buildVersionsListing,
  HOSTILE_RESPONSES,
  serveCodes,
  type Respond,
} from '../../e2e/attack/hostile-service.ts';

/** Ten minutes in `npm run attack`. */
const SECONDS = 24 * Number(process.env['XVS_ATTACK_ROUNDS'] ?? 1);
/** The connections of the web server, one for each poll, and some of Node.js, files and the state. */
const MAX_DESCRIPTORS = 700;
const PASSWORD = 'sesame';
const NEW_SCRAPERS = Array.from({ length: 200 }, (_, index) => `new-scraper-${index}`);
const USERS = ['scraper', 'reader', ...NEW_SCRAPERS];
/** Long enough that an unread exposition fills the buffers of a connection. */
const TASKS = 8000;
/** Label sets that terminals invent. */
const VERSIONS = 400_000;

const sendListings = (...listings: readonly Buffer[]): Respond => {
  let polls = 0;
  return (response) => {
    const listing = listings[polls % listings.length];
    polls += 1;
    response.writeHead(200, { 'content-encoding': 'gzip' }).end(listing);
  };
};

const sendNewTasks = (count: number, length: number): Respond =>
  sendListings(...Array.from('abcdefghi', (letter) => buildTasksWithNewIds(letter.repeat(length), count)));

/** What the service answers, and for how many codes. */
const RESPONSES: readonly (readonly [kind: string, codes: number, respond: Respond])[] = [
  ['HEALTHY', 1, (response) => void response.end('{"ret":0,"user_list":[],"task_list":[]}')],
  ['LONG', 1, sendListings(gzipSync(buildTasksListing('LONG-0', TASKS)))],
  ['VERSIONS', 1, sendListings(buildVersionsListing('VERSIONS-0', VERSIONS))],
  ['FORMATS', 1, sendListings(buildFormatsListing())],
  ['OUTPUTS', 1, sendListings(buildOutputsListing(1000))],
  ['NEW-TASKS', 1, sendNewTasks(100_000, 1)],
  ['LONG-IDS', 1, sendNewTasks(30, 1_000_000)],
  ['EXPANDING', 8, HOSTILE_RESPONSES.expanding],
  ['INFORMATIONAL', 8, HOSTILE_RESPONSES.informational],
  ['HANGING', 8, HOSTILE_RESPONSES.hanging],
  ['BROTLI', 8, HOSTILE_RESPONSES.brotli],
  ['BUSY', 20, HOSTILE_RESPONSES.busy],
];
const RESPONSE_OF = new Map<string, Respond>(
  RESPONSES.flatMap(([kind, codes, respond]) =>
    Array.from({ length: codes }, (_, index) => [`${kind}-${index}`, respond] as const),
  ),
);
const CODES = [...RESPONSE_OF.keys()];
const HEALTHY = 'HEALTHY-0';

/** Each kind of client has a different address. */
const ADDRESS = {
  pipeliner: '127.0.0.2',
  guesser: '127.0.0.3',
  reader: '127.0.0.4',
  prober: '127.0.0.5',
  collector: '127.0.0.6',
  hoarders: ['127.0.0.10', '127.0.0.11', '127.0.0.12', '127.0.0.13', '127.0.0.14', '127.0.0.15'],
  newScraper: (index: number) => `127.0.1.${index + 1}`,
} as const;

type Task = (exporter: AttackedExporter, turn: number, folder: TemporaryFolder) => Promise<void>;

const reader = basicAuthorization('reader', PASSWORD);

/** Each is repeated until the test ends. */
const ATTACKS: readonly Task[] = [
  async function pipelineScrapesAndReset(exporter) {
    const socket = await exporter.open(ADDRESS.pipeliner);
    socket.write(formatRequest('/metrics', reader).repeat(60));
    await nextEvent(socket, 'data');
    socket.resetAndDestroy();
    await delay(200);
  },
  async function pipelineGuesses(exporter, turn) {
    const socket = await exporter.open(ADDRESS.guesser);
    const guess = basicAuthorization('scraper', `guess ${turn}`);
    socket.resume().write(formatRequest('/metrics', guess).repeat(10_000));
    await nextEvent(socket, 'close');
  },
  ...Array.from({ length: 16 }, (_, index): Task => async (exporter, turn) => {
    const socket = await exporter.open(ADDRESS.guesser);
    const user = turn % 2 === 0 ? 'scraper' : `unknown-${turn}`;
    socket.resume().write(formatRequest('/metrics', basicAuthorization(user, `guess ${index} ${turn}`)));
    await nextEvent(socket, 'close');
  }),
  async function hoardConnections(exporter, turn) {
    const socket = await exporter.open(ADDRESS.hoarders[turn % ADDRESS.hoarders.length]);
    // Every second connection sends nothing.
    if (turn % 2 === 0) socket.resume().write(formatRequest('/-/healthy'));
    await delay(5);
  },
  ...Array.from({ length: 12 }, (_, index): Task => async (exporter, turn) => {
    const path = `/metrics?service_code=${CODES[(index + turn) % CODES.length]}`;
    await exporter.get({
      path,
      localAddress: ADDRESS.collector,
      authorization: reader,
      isGzipped: turn % 2 === 0,
    });
  }),
  async function pipelineOnManyConnections(exporter) {
    const sockets = await Promise.all(Array.from({ length: 400 }, () => exporter.open(ADDRESS.pipeliner)));
    const closed = sockets.map((socket) => nextEvent(socket.resume(), 'close'));
    for (const socket of sockets) socket.write(PIPELINED);
    await Promise.all(closed);
    await delay(1000);
  },
  async function sendBadHeaders(exporter, turn) {
    const socket = await exporter.open(ADDRESS.pipeliner);
    const headers =
      ['Host: x\r\nHost: y', `Host: ${'a.'.repeat(7500)}`, 'Host: x\r\nExpect: x'][turn % 3] ?? '';
    const answered = nextEvent(socket, 'data');
    socket.write(formatRequest('/sd', reader).replace('Host: x', headers));
    await answered;
    socket.destroy();
  },
  async function spoilCodeFile(exporter, turn, folder) {
    if (turn % 3 === 0) {
      execFileSync('mkfifo', [folder.at('fifo')]);
      renameSync(folder.at('fifo'), folder.at('codes.yml'));
    } else
      folder.replace('codes.yml', turn % 3 === 1 ? `[${'A,'.repeat(1_000_000)}]` : '- {}\n'.repeat(20_000));
    exporter.program.signal('SIGHUP');
    exporter.program.signal('SIGUSR1');
    await delay(1000);
  },
  async function removeState(_exporter, _turn, folder) {
    rmSync(folder.at('state'), { recursive: true, force: true, maxRetries: 5 });
    await delay(15_000);
  },
  ...Array.from({ length: 12 }, (): Task => async (exporter) => {
    const socket = await exporter.open(ADDRESS.reader);
    socket.pause().write(formatRequest('/metrics', reader));
    await Promise.race([nextEvent(socket, 'close'), delay(20_000)]);
    socket.destroy();
  }),
];

test('under all attacks at once, polls, scrapes and probes continue in bounded memory', async (t) => {
  using folder = new TemporaryFolder();
  const hash = hashSync(PASSWORD, 10);
  writeFileSync(
    folder.at('web.yml'),
    `basic_auth_users:\n${USERS.map((user) => `  ${user}: ${hash}\n`).join('')}`,
  );
  folder.replace('codes.yml', '- FROM-FILE');
  const url = await serveCodes(t, (serviceCode, response) => {
    RESPONSE_OF.get(serviceCode)?.(response);
  });
  await using exporter = await AttackedExporter.start({
    XVS_UPSTREAM_BASE_URL: url,
    XVS_SERVICE_CODES: CODES.join(','),
    XVS_POLL_INTERVAL: '10s',
    XVS_METRICS_PER_TASK: 'true',
    XVS_METRICS_MAX_TASKS: String(TASKS),
    XVS_SERVICE_CODE_FILES: folder.at('codes.yml'),
    XVS_STATE_PATH: folder.at('state'),
    XVS_WEB_CONFIG_FILE: folder.at('web.yml'),
    XVS_WEB_OPEN_PROBES: 'true',
  });
  const authorization = basicAuthorization('scraper', PASSWORD);
  const agent = new Agent({ keepAlive: true, maxSockets: 1 });
  t.after(() => agent.destroy());
  const scrape = () => exporter.get({ authorization, agent });
  await waitUntil(scrape, ({ body }) => body.includes(CATALOGUE.taskInputBytes.name));

  const stopped = new AbortController();
  const attacks = ATTACKS.map(async (attack) => {
    for (let turn = 0; !stopped.signal.aborted; turn += 1) await attack(exporter, turn, folder);
  });
  let descriptors = 0;
  const endMs = performance.now() + SECONDS * 1000;
  const repeat = async (
    kind: string,
    pauseMs: number,
    send: (turn: number) => Promise<{ readonly status: number }>,
  ) => {
    const statuses: number[] = [];
    let slowestMs = 0;
    for (let turn = 0; performance.now() < endMs; turn += 1) {
      const startMs = performance.now();
      statuses.push((await send(turn)).status);
      slowestMs = Math.max(slowestMs, performance.now() - startMs);
      descriptors = Math.max(descriptors, exporter.descriptorCount);
      await delay(pauseMs);
    }
    const answered = statuses.filter((one) => one === 200).length;
    t.diagnostic(`${kind}: ${answered} of ${statuses.length} answered, at most ${slowestMs.toFixed(0)} ms`);
    return `${kind} ${[...new Set(statuses)].join()}`;
  };
  const outcomes = await Promise.all([
    repeat('scrapes', 500, scrape),
    repeat('first scrapes', 3000, (turn) => {
      const localAddress = ADDRESS.newScraper(turn);
      const user = NEW_SCRAPERS[turn] ?? 'scraper';
      return exporter.get({ authorization: basicAuthorization(user, PASSWORD), localAddress });
    }),
    repeat('probes', 500, () => exporter.get({ path: '/-/healthy', localAddress: ADDRESS.prober })),
  ]);
  stopped.abort();
  const { status, body } = await scrape();
  const { peakRssMiB } = exporter.program;
  const series = parseSeries(body);
  const sumOf = (name: string): number => sumSeries(series, name, HEALTHY);
  const [polls, errors, skipped] = [
    sumOf(CATALOGUE.polls.name),
    sumOf(CATALOGUE.pollErrors.name),
    sumOf(CATALOGUE.pollsSkipped.name),
  ];
  t.diagnostic(`polls: ${polls - errors} of ${polls + skipped} answered`);
  t.diagnostic(
    `${SECONDS} s, exposition ${(body.length / 1e6).toFixed(1)} MB, at most ${descriptors} descriptors, ` +
      `resident memory at most ${peakRssMiB.toFixed(0)} MiB, at the end ${exporter.program.rssMiB.toFixed(0)} MiB`,
  );
  assert.deepEqual(outcomes, ['scrapes 200', 'first scrapes 200', 'probes 200']);
  assert.equal(status, 200);
  assert.deepEqual([sumOf(CATALOGUE.up.name), errors, skipped], [1, 0, 0]);
  assert.ok(polls >= 2);
  assert.ok(peakRssMiB < SHIPPED.memoryMiB, `${peakRssMiB} MiB`);
  assert.ok(descriptors < MAX_DESCRIPTORS, `${descriptors} descriptors`);
  assert.doesNotMatch(exporter.program.stderr, /Debugger listening/);
  // Attacks that wait for a response end when the exporter stops.
  await exporter.program[Symbol.asyncDispose]();
  await Promise.all(attacks);
});
