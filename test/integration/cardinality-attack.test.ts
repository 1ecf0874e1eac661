import assert from 'node:assert/strict';
import { createServer, type ServerResponse } from 'node:http';
import { test } from 'node:test';
import { setImmediate as nextTurn } from 'node:timers/promises';
import { createReaderLimits } from '../../src/listing/reader-limits.ts';
import { measureHeapBytes } from '../support/heap.ts';
import { findLeaks } from '../support/leaks.ts';
import { SECRET } from './rig-configuration.ts';
import { ScriptedExporter } from './scripted-exporter.ts';
import { selectSeries, sumSeries, type Series } from '../support/series.ts';

const CODE = 'ATTACKED';
const MAX_LABEL_SETS = 200;
/** Maximum number of label sets: unfolded ones, those with one folded label, and the completely folded one. */
const MAX_SERIES = MAX_LABEL_SETS + MAX_LABEL_SETS / 10 + 1;
/** The listing before the attack: users by version, and tasks by server. */
const VERSIONS = 40;
const USERS_OF_EACH = 25;
const SERVERS = 20;
const BYTES_PER_POLL = 1000;
/** Numbers of new names in each poll. */
const INVENTED_VERSIONS = 100_000;
const INVENTED_SERVERS = 300;
/** Maximum number of distinct label sets while a listing is read; the reader folds the others. */
const LABEL_SETS_READ = createReaderLimits(MAX_LABEL_SETS).maxLabelSets;

/** Number of polls of the attack; `XVS_ATTACK_POLLS` makes it more. */
const POLLS = Number(process.env['XVS_ATTACK_POLLS'] ?? 8);
/**
 * Accounts of departed tasks, and a tree of label sets that is rebuilt after some polls, add up to 1.5 MB per poll.
 * Keeping the invented versions would add 6 MB.
 */
const MAX_HEAP_BYTES_PER_POLL = 3 * 1024 * 1024;

/** A service whose listings have new label values in each poll, with the totals that the exporter must count. */
class Attack {
  poll = 0;
  isOn = false;
  readonly server = createServer((_request, response) => {
    response.once('error', () => undefined);
    void send(response, this.#body());
  });

  /** The number of users in a listing. */
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

  /** Builds a task with a new server, output and tag. */
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

/** Lists the series of a family that existed before the attack. */
const listKnownSeriesNames = (series: Series, family: string): readonly string[] =>
  [...selectSeries(series, family, CODE).keys()].filter((name) => /known-|server-/.test(name)).toSorted();

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

test(`with ${INVENTED_VERSIONS} new client versions in each poll, sums stay exact and memory stays flat`, async (t) => {
  const attack = new Attack();
  await using exporter = await ScriptedExporter.start({
    serviceCodes: [CODE],
    server: attack.server,
    maxLabelSets: MAX_LABEL_SETS,
  });
  await exporter.poll();
  await exporter.poll();
  const before = await exporter.read();
  const increases = new Increases(before);
  const heaps: number[] = [];
  const counts: number[] = [];
  attack.isOn = true;
  while (attack.poll < POLLS) {
    attack.poll += 1;
    await exporter.poll();
    const series = await exporter.read();
    counts.push(series.size);
    increases.add(series);
    // In this turn of the event loop the request is still on the stack.
    await nextTurn();
    heaps.push(measureHeapBytes());
    // Every sum is exact, and no earlier series is missing or folded.
    assert.equal(sumSeries(series, 'xvs_online_users', CODE), attack.users + 1);
    assert.equal(sumSeries(series, 'xvs_tasks', CODE), SERVERS + INVENTED_SERVERS);
    assert.equal(sumSeries(series, 'xvs_http_connections', CODE), INVENTED_SERVERS);
    for (const family of FAMILIES) {
      assert.deepEqual(
        listKnownSeriesNames(series, `${family}{`),
        listKnownSeriesNames(before, `${family}{`),
      );
      assert.ok(selectSeries(series, `${family}{`, CODE).size <= MAX_SERIES, family);
    }
    const mine = selectSeries(series, 'xvs_online_users{', CODE);
    for (const name of listKnownSeriesNames(series, 'xvs_online_users{'))
      assert.equal(mine.get(name), USERS_OF_EACH);
    assert.ok(readFoldedLabelSets(series, 'xvs_online_users') >= LABEL_SETS_READ - MAX_LABEL_SETS);
    const surplus = sumSeries(series, 'xvs_exporter_listing_surplus_total', CODE);
    // The first scrape got the new series at 0.
    assert.ok(surplus >= (attack.poll - 1) * (INVENTED_VERSIONS - LABEL_SETS_READ));
  }
  attack.isOn = false;
  await exporter.poll();
  const after = await exporter.read();
  increases.add(after);
  assertByteCounters(increases, attack.poll);
  assert.equal(readFoldedLabelSets(after, 'xvs_online_users'), 0);
  assert.equal(sumSeries(after, 'xvs_exporter_poll_errors_total', CODE), 0);
  const [early = 0, late = 0] = [heaps[3], heaps.at(-1)];
  const maxGrowth = (heaps.length - 4) * MAX_HEAP_BYTES_PER_POLL;
  assert.ok(late - early < maxGrowth, `Expected a flat heap, found ${heaps.join(', ')}`);
  const [fewest, most] = [Math.min(...counts.slice(3)), Math.max(...counts.slice(3))];
  // Slots of absent label sets are not exposed, and are released a limited number of times per hour.
  assert.ok(most - fewest <= 0.15 * most, `Expected a steady number of series, found ${counts.join(', ')}`);
  const folds = exporter.log.lines.filter(({ msg, level }) => msg.startsWith('Folded') && level !== 'debug');
  assert.equal(folds.length, 1);
  assert.deepEqual(
    findLeaks([...exporter.log.texts, await exporter.text(), exporter.statusPage()], SECRET),
    [],
  );
  t.diagnostic(
    `${attack.poll} polls, ${Math.max(...counts)} series at most; heap ${early}, then ${late} bytes`,
  );
});

function readFoldedLabelSets(series: Series, family: string): number {
  return series.get(`xvs_exporter_folded_label_sets{service_code="${CODE}",family="${family}"}`) ?? 0;
}

/** Sums the growth of each byte counter from scrape to scrape, as Prometheus does, including counters that disappear. */
class Increases {
  #last: Series;
  readonly #totals = new Map<string, number>();

  constructor(first: Series) {
    this.#last = first;
  }

  add(series: Series): void {
    for (const [name, value] of series) {
      if (!/^xvs_(?:input|http_output)_bytes_total/.test(name)) continue;
      const growth = value - (this.#last.get(name) ?? 0);
      this.#totals.set(name, (this.#totals.get(name) ?? 0) + growth);
    }
    this.#last = series;
  }

  get totals(): Series {
    return this.#totals;
  }
}

/** Asserts that known tasks count their growth, and invented ones all bytes, on their own server or the folded one. */
function assertByteCounters({ totals }: Increases, polls: number): void {
  assert.equal(
    sumSeries(totals, 'xvs_input_bytes_total', CODE),
    SERVERS * BYTES_PER_POLL * polls + INVENTED_SERVERS * 2 * polls,
  );
  assert.equal(sumSeries(totals, 'xvs_http_output_bytes_total', CODE), INVENTED_SERVERS * 3 * polls);
  for (let server = 0; server < SERVERS; server += 1) {
    const name = `xvs_input_bytes_total{service_code="${CODE}",vs_id="server-${server}"}`;
    assert.equal(totals.get(name), BYTES_PER_POLL * polls);
  }
}
