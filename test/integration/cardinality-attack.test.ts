import assert from 'node:assert/strict';
import { createServer, type ServerResponse } from 'node:http';
import { test } from 'node:test';
import { setImmediate as nextTurn } from 'node:timers/promises';
import { systemClock } from '../../src/clock.ts';
import { heapBytes } from './heap.ts';
import { leaksIn } from './leaks.ts';
import { SECRET } from './configured.ts';
import { ScriptedExporter } from './scripted-exporter.ts';
import { seriesWith, sumOf, type Series } from './series.ts';

const CODE = 'ATTACKED';
const MAX_LABEL_SETS = 200;
/** What was there before: users by version, and tasks by server. */
const VERSIONS = 40;
const USERS_OF_EACH = 25;
const SERVERS = 20;
const BYTES_PER_POLL = 1000;
/** What a terminal invents at each poll. */
const INVENTED_VERSIONS = 100_000;
const INVENTED_SERVERS = 300;

/** As many polls as fit, in seconds; more of them on demand. */
const SECONDS = Number(process.env['XVS_ATTACK_SECONDS'] ?? 15);
const MIN_POLLS = 12;
/**
 * What is kept from listing to listing, within bounds, comes and goes: a tree of label sets alone takes 10 MB before it is
 * made anew. Who kept the versions that listings invent would have 6 MB more at each poll.
 */
const HEAP_SLACK_BYTES = 16 * 1024 * 1024;

/** Says what it must have been counted as. */
class Attack {
  poll = 0;
  isOn = false;
  readonly server = createServer((_request, response) => {
    response.once('error', () => undefined);
    void send(response, this.#body());
  });

  /** Users of one listing. */
  get users(): number {
    return VERSIONS * USERS_OF_EACH + (this.isOn ? INVENTED_VERSIONS : 0);
  }

  *#body(): Generator<string> {
    yield '{"ret":0,"user_list":[{}';
    for (let version = 0; version < VERSIONS; version += 1) {
      yield `,{"client_version":"known-${version}","device_type":"10"}`.repeat(USERS_OF_EACH);
    }
    if (this.isOn) {
      for (let index = 0; index < INVENTED_VERSIONS; index += 1) {
        yield `,{"client_version":"invented-${this.poll}-${index}","device_type":"10"}`;
      }
    }
    yield '],"task_list":[';
    for (let server = 0; server < SERVERS; server += 1)
      yield `${server === 0 ? '' : ','}${this.#known(server)}`;
    if (this.isOn) {
      for (let index = 0; index < INVENTED_SERVERS; index += 1) yield `,${this.#invented(index)}`;
    }
    yield ']}';
  }

  #known(server: number): string {
    const bytes = 7_000_000 + this.poll * BYTES_PER_POLL;
    return `{"id":"known-${server}","vs_id":"server-${server}","input_bytes":${bytes},"inputs":[],"outputs":[]}`;
  }

  /** A task that lives for one listing, on a server, with an output and a tag that nobody has heard of. */
  #invented(index: number): string {
    const name = `invented-${this.poll}-${index}`;
    const output = `{"format":"${name}","file_name":"f","tag":"${name}","http_output_bytes":3,"http_connections_num":1,"streams":[]}`;
    return `{"id":"${name}","vs_id":"${name}","input_bytes":2,"opaque":"room","inputs":[],"outputs":[${output}]}`;
  }
}

async function send(response: ServerResponse, pieces: Iterable<string>): Promise<void> {
  let text = '';
  for (const piece of pieces) {
    text += piece;
    if (text.length < 64 * 1024) continue;
    if (!response.write(text)) await new Promise((resolve) => response.once('drain', resolve));
    text = '';
  }
  response.end(text);
}

/** Series of a family that were there before the attack. */
const known = (series: Series, family: string): readonly string[] =>
  [...seriesWith(series, family, CODE).keys()].filter((name) => /known-|server-/.test(name)).toSorted();

const FAMILIES = [
  'xvs_online_users',
  'xvs_tasks',
  'xvs_outputs',
  'xvs_output_tags',
  'xvs_http_connections',
  'xvs_server_last_seen_timestamp_seconds',
  'xvs_input_bytes_total',
  'xvs_http_output_bytes_total',
  'xvs_tasks_started_total',
  'xvs_tasks_ended_total',
];

test(`${INVENTED_VERSIONS} client versions that nobody has seen before, at each poll for ${SECONDS} s`, async (t) => {
  const attack = new Attack();
  await using exporter = await ScriptedExporter.start({
    serviceCodes: [CODE],
    server: attack.server,
    maxLabelSets: MAX_LABEL_SETS,
  });
  await exporter.poll();
  await exporter.poll();
  const before = await exporter.read();
  const heaps: number[] = [];
  const counts: number[] = [];
  attack.isOn = true;
  const endMs = systemClock.monotonic() + SECONDS * 1000;
  while (systemClock.monotonic() < endMs || attack.poll < MIN_POLLS) {
    attack.poll += 1;
    await exporter.poll();
    const series = await exporter.read();
    counts.push(series.size);
    // The request is still on the stack of the turn that ended it.
    await nextTurn();
    heaps.push(heapBytes());
    // Every sum is exact, and nothing that was there before has gone, or been folded.
    assert.equal(sumOf(series, 'xvs_online_users', CODE), attack.users + 1);
    assert.equal(sumOf(series, 'xvs_tasks', CODE), SERVERS + INVENTED_SERVERS);
    assert.equal(sumOf(series, 'xvs_http_connections', CODE), INVENTED_SERVERS);
    for (const family of FAMILIES) {
      assert.deepEqual(known(series, `${family}{`), known(before, `${family}{`));
      assert.ok(seriesWith(series, `${family}{`, CODE).size <= MAX_LABEL_SETS + 1, family);
    }
    const mine = seriesWith(series, 'xvs_online_users{', CODE);
    for (const name of known(series, 'xvs_online_users{')) assert.equal(mine.get(name), USERS_OF_EACH);
    assert.ok(foldedSets(series, 'xvs_online_users') >= INVENTED_VERSIONS - MAX_LABEL_SETS);
  }
  attack.isOn = false;
  await exporter.poll();
  const after = await exporter.read();
  checkBytes(after, attack.poll);
  assert.equal(foldedSets(after, 'xvs_online_users'), 0);
  assert.equal(sumOf(after, 'xvs_exporter_poll_errors_total', CODE), 0);
  const [early = 0, late = 0] = [heaps[3], heaps.at(-1)];
  assert.ok(late - early < HEAP_SLACK_BYTES, `Expected a flat heap, found ${heaps.join(', ')}`);
  assert.deepEqual([...new Set(counts.slice(3))], [counts[3]], 'as many series at each poll');
  const folds = exporter.log.lines.filter(({ msg, level }) => msg.startsWith('Folded') && level !== 'debug');
  assert.equal(folds.length, 1);
  assert.deepEqual(
    leaksIn([...exporter.log.texts, await exporter.text(), exporter.statusPage()], SECRET),
    [],
  );
  t.diagnostic(
    `${attack.poll} polls, ${Math.max(...counts)} series at most; heap ${early}, then ${late} bytes`,
  );
});

function foldedSets(series: Series, family: string): number {
  return series.get(`xvs_exporter_folded_label_sets{service_code="${CODE}",family="${family}"}`) ?? 0;
}

/** Of tasks that went on, what they gained; of those that came, all. Their servers count under a name, or folded. */
function checkBytes(series: Series, polls: number): void {
  assert.equal(
    sumOf(series, 'xvs_input_bytes_total', CODE),
    SERVERS * BYTES_PER_POLL * polls + INVENTED_SERVERS * 2 * polls,
  );
  assert.equal(sumOf(series, 'xvs_http_output_bytes_total', CODE), INVENTED_SERVERS * 3 * polls);
  for (let server = 0; server < SERVERS; server += 1) {
    const name = `xvs_input_bytes_total{service_code="${CODE}",vs_id="server-${server}"}`;
    assert.equal(series.get(name), BYTES_PER_POLL * polls);
  }
}
