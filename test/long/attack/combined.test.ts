import assert from 'node:assert/strict';
import { writeFileSync } from 'node:fs';
import { Agent } from 'node:http';
import { test } from 'node:test';
import { setTimeout as delay } from 'node:timers/promises';
import { hashSync } from '@node-rs/bcrypt';
import { CATALOGUE } from '../../../src/metrics/catalogue/catalogue.ts';
import { parseSeries, sumSeries } from '../../support/series.ts';
import { TemporaryFolder } from '../../support/temporary-folder.ts';
import { waitUntil } from '../../support/wait-until.ts';
import {
  AttackedExporter,
  basicAuthorization,
  formatRequest,
  nextEvent,
  SHIPPED,
} from '../../e2e/attack/attacked-exporter.ts';
import {
  BOMB,
  buildTasksListing,
  buildVersionsListing,
  HostileService,
} from '../../e2e/attack/hostile-service.ts';

const SECONDS = Number(process.env['XVS_ATTACK_SECONDS'] ?? 60);
const PASSWORD = 'sesame';
const NEW_SCRAPERS = Array.from({ length: 200 }, (_, index) => `new-scraper-${index}`);
const USERS = ['scraper', 'reader', ...NEW_SCRAPERS];
const BOMB_CODES = Array.from({ length: 8 }, (_, index) => `BOMB-${index}`);
const CODES = ['HEALTHY', 'LONG', 'VERSIONS', ...BOMB_CODES];
/** Long enough that an unread exposition fills the buffers of a connection. */
const TASKS = 8000;
/** Label sets that terminals invent. */
const VERSIONS = 400_000;

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

type Task = (exporter: AttackedExporter, turn: number) => Promise<void>;

const reader = basicAuthorization('reader', PASSWORD);

/** Each is repeated until the test ends. */
const ATTACKS: readonly Task[] = [
  async function pipelineScrapesAndReset(exporter) {
    const socket = await exporter.open(ADDRESS.pipeliner);
    socket.write(formatRequest('/metrics', reader).repeat(60));
    await Promise.race([nextEvent(socket, 'data'), nextEvent(socket, 'close')]);
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
  async function sendTwoHosts(exporter) {
    const socket = await exporter.open(ADDRESS.pipeliner);
    socket.resume().write(formatRequest('/metrics', reader).replace('Host: x', 'Host: x\r\nHost: y'));
    await nextEvent(socket, 'close');
  },
  ...Array.from({ length: 12 }, (): Task => async (exporter) => {
    const socket = await exporter.open(ADDRESS.reader);
    socket.pause().write(formatRequest('/metrics', reader));
    await Promise.race([nextEvent(socket, 'close'), delay(20_000)]);
    socket.destroy();
  }),
];

test(
  'under all attacks at once, polls, scrapes and probes continue in bounded memory',
  { timeout: 1_200_000 },
  async (t) => {
    using folder = new TemporaryFolder();
    const hash = hashSync(PASSWORD, 10);
    writeFileSync(
      folder.at('web.yml'),
      `basic_auth_users:\n${USERS.map((user) => `  ${user}: ${hash}\n`).join('')}`,
    );
    const long = buildTasksListing('LONG', TASKS);
    const versions = buildVersionsListing('VERSIONS', VERSIONS);
    await using service = await HostileService.start((serviceCode, response) => {
      if (serviceCode === 'LONG') response.end(long);
      else if (serviceCode === 'VERSIONS')
        response.writeHead(200, { 'content-encoding': 'gzip' }).end(versions);
      else if (serviceCode.startsWith('BOMB'))
        response.writeHead(200, { 'content-encoding': 'gzip' }).end(BOMB);
      else response.end('{"ret":0,"user_list":[],"task_list":[]}');
    });
    await using exporter = await AttackedExporter.start(
      {
        XVS_UPSTREAM_BASE_URL: service.url,
        XVS_SERVICE_CODES: CODES.join(','),
        XVS_POLL_INTERVAL: '10s',
        XVS_METRICS_PER_TASK: 'true',
        XVS_METRICS_MAX_TASKS: String(TASKS),
        XVS_WEB_CONFIG_FILE: folder.at('web.yml'),
        XVS_WEB_OPEN_PROBES: 'true',
      },
      SHIPPED.nodeFlags,
    );
    const authorization = basicAuthorization('scraper', PASSWORD);
    const agent = new Agent({ keepAlive: true, maxSockets: 1 });
    t.after(() => agent.destroy());
    const scrape = () => exporter.get({ authorization, agent });
    await waitUntil(scrape, ({ body }) => body.includes(CATALOGUE.taskInputBytes.name));

    const stopped = new AbortController();
    const attacks = ATTACKS.map(async (attack) => {
      for (let turn = 0; !stopped.signal.aborted; turn += 1) await attack(exporter, turn);
    });
    const statuses = { scraper: [] as number[], newScrapers: [] as number[], probes: [] as number[] };
    const endMs = performance.now() + SECONDS * 1000;
    for (let turn = 0; performance.now() < endMs; turn += 1) {
      statuses.scraper.push((await scrape()).status);
      const probe = await exporter.get({ path: '/-/healthy', localAddress: ADDRESS.prober });
      statuses.probes.push(probe.status);
      const user = turn % 5 === 0 ? NEW_SCRAPERS[turn / 5] : undefined;
      if (user !== undefined) {
        const localAddress = ADDRESS.newScraper(turn / 5);
        const { status } = await exporter.get({
          authorization: basicAuthorization(user, PASSWORD),
          localAddress,
        });
        statuses.newScrapers.push(status);
      }
      await delay(500);
    }
    stopped.abort();
    const { status, body } = await scrape();
    const { peakRssMiB } = exporter;
    t.diagnostic(
      `${SECONDS} s: ${statuses.scraper.length} scrapes, ${statuses.newScrapers.length} new scrapers, ${statuses.probes.length} probes, ` +
        `exposition ${(body.length / 1e6).toFixed(1)} MB, RSS at most ${peakRssMiB.toFixed(0)} MiB`,
    );
    for (const [kind, found] of Object.entries(statuses))
      assert.deepEqual([kind, ...new Set(found)], [kind, 200], `${kind}: ${found.join(' ')}`);
    assert.equal(status, 200);
    const series = parseSeries(body);
    const sumOf = (name: string): number => sumSeries(series, name, 'HEALTHY');
    const polls = sumOf(CATALOGUE.polls.name);
    t.diagnostic(`polls of the healthy code: ${polls}`);
    assert.deepEqual(
      [sumOf(CATALOGUE.up.name), sumOf(CATALOGUE.pollErrors.name), sumOf(CATALOGUE.pollsSkipped.name)],
      [1, 0, 0],
    );
    assert.ok(polls >= 2);
    assert.ok(peakRssMiB < SHIPPED.memoryMiB, `${peakRssMiB} MiB`);
    // Attacks that wait for a response end when the exporter stops.
    await exporter.program[Symbol.asyncDispose]();
    await Promise.all(attacks);
  },
);
