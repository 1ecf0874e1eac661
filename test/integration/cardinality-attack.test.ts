import assert from 'node:assert/strict';
import { test } from 'node:test';
import { measureHeapBytes } from '../support/heap.ts';
import { ListingRun } from '../support/listing-run.ts';
import { POLLED_CODE } from '../support/read-listing.ts';
import { parseSeries, selectSeries, sumSeries, type Series } from '../support/series.ts';

const MAX_LABEL_SETS = 200;
/** Rows of label sets, of folded ones, and the one in which all labels are folded. */
const MAX_SERIES = MAX_LABEL_SETS + MAX_LABEL_SETS / 8 + 1;
/** The listing before the attack: users by version, and tasks by server. */
const VERSIONS = 40;
const USERS_OF_EACH = 25;
const SERVERS = 20;
const BYTES_PER_POLL = 1000;
/** Numbers of new names in each poll. */
const INVENTED_VERSIONS = 100_000;
const INVENTED_SERVERS = 300;

/** Number of polls of the attack; `XVS_ATTACK_POLLS` makes it more. */
const POLLS = Number(process.env['XVS_ATTACK_POLLS'] ?? 8);
/**
 * Accounts of departed tasks, and a tree of label sets that is rebuilt after some polls, add up to 1.5 MB per poll.
 * Keeping the invented versions would add 6 MB.
 */
const MAX_HEAP_BYTES_PER_POLL = 3 * 1024 * 1024;

/** Creates a listing; the `poll`-th one of the attack has label values that no other one has. */
function createListing(poll: number, isAttack: boolean): Buffer {
  const numbers = (count: number): readonly number[] => Array.from({ length: count }, (_, index) => index);
  const users = numbers(VERSIONS).map((version) =>
    Array.from({ length: USERS_OF_EACH }, () => createUser(`known-${version}`)).join(','),
  );
  const tasks = numbers(SERVERS).map((server) => createKnownTask(server, poll));
  if (isAttack) {
    users.push(...numbers(INVENTED_VERSIONS).map((index) => createUser(`invented-${poll}-${index}`)));
    tasks.push(...numbers(INVENTED_SERVERS).map((index) => createInventedTask(`invented-${poll}-${index}`)));
  }
  return Buffer.from(`{"ret":0,"user_list":[${users.join(',')}],"task_list":[${tasks.join(',')}]}`);
}

function createUser(version: string): string {
  return `{"client_version":"${version}","device_type":"10"}`;
}

function createKnownTask(server: number, poll: number): string {
  const bytes = 7_000_000 + poll * BYTES_PER_POLL;
  return `{"id":"known-${server}","vs_id":"server-${server}","input_bytes":${bytes},"inputs":[],"outputs":[]}`;
}

/** Creates a task with a new server, output and tag. */
function createInventedTask(name: string): string {
  const output = `{"format":"${name}","file_name":"f","tag":"${name}","http_output_bytes":3,"http_connections_num":1,"streams":[]}`;
  return `{"id":"${name}","vs_id":"${name}","input_bytes":2,"inputs":[],"outputs":[${output}]}`;
}

/** Lists the series of a family that existed before the attack. */
const listKnownSeriesNames = (series: Series, family: string): readonly string[] =>
  [...selectSeries(series, family, POLLED_CODE).keys()]
    .filter((name) => /known-|server-/.test(name))
    .toSorted();

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

test(`with ${INVENTED_VERSIONS} new client versions in each poll, sums stay exact and memory stays flat`, (t) => {
  const run = new ListingRun(MAX_LABEL_SETS);
  /** Growth from listing to listing, as Prometheus sees it: counters of servers that left disappear. */
  const increases = new Map<string, number>();
  let last: Series = new Map();
  const publish = (poll: number, isAttack: boolean): Series => {
    run.publish(createListing(poll, isAttack));
    const series = parseSeries(run.render());
    for (const [name, value] of series)
      increases.set(name, (increases.get(name) ?? 0) + value - (last.get(name) ?? 0));
    last = series;
    return series;
  };
  const before = publish(0, false);
  const heaps: number[] = [];
  const counts: number[] = [];
  for (let poll = 1; poll <= POLLS; poll += 1) {
    const series = publish(poll, true);
    counts.push(series.size);
    heaps.push(measureHeapBytes());
    // Every sum is exact, and no earlier series is missing or folded.
    const users = VERSIONS * USERS_OF_EACH + INVENTED_VERSIONS;
    assert.equal(sumSeries(series, 'xvs_online_users', POLLED_CODE), users);
    assert.equal(sumSeries(series, 'xvs_tasks', POLLED_CODE), SERVERS + INVENTED_SERVERS);
    assert.equal(sumSeries(series, 'xvs_http_connections', POLLED_CODE), INVENTED_SERVERS);
    for (const family of FAMILIES) {
      const names = listKnownSeriesNames(series, `${family}{`);
      assert.deepEqual(names, listKnownSeriesNames(before, `${family}{`));
      assert.ok(selectSeries(series, `${family}{`, POLLED_CODE).size <= MAX_SERIES, family);
    }
    for (const name of listKnownSeriesNames(series, 'xvs_online_users{'))
      assert.equal(series.get(name), USERS_OF_EACH);
  }
  publish(POLLS, false);
  // Known tasks count their growth, and invented ones all bytes, on their own server or the folded one.
  assert.equal(
    sumSeries(increases, 'xvs_input_bytes_total', POLLED_CODE),
    SERVERS * BYTES_PER_POLL * POLLS + INVENTED_SERVERS * 2 * POLLS,
  );
  assert.equal(
    sumSeries(increases, 'xvs_http_output_bytes_total', POLLED_CODE),
    INVENTED_SERVERS * 3 * POLLS,
  );
  for (const [name, bytes] of selectSeries(increases, 'xvs_input_bytes_total{', POLLED_CODE))
    if (name.includes('vs_id="server-')) assert.equal(bytes, BYTES_PER_POLL * POLLS, name);
  const [early = 0, late = 0] = [heaps[3], heaps.at(-1)];
  const maxGrowth = (heaps.length - 4) * MAX_HEAP_BYTES_PER_POLL;
  assert.ok(late - early < maxGrowth, `Expected a flat heap, found ${heaps.join(', ')}`);
  const [fewest, most] = [Math.min(...counts.slice(3)), Math.max(...counts.slice(3))];
  // Slots of absent label sets are not exposed, and are released a limited number of times per hour.
  assert.ok(most - fewest <= 0.15 * most, `Expected a steady number of series, found ${counts.join(', ')}`);
  t.diagnostic(`${POLLS} polls, ${Math.max(...counts)} series at most; heap ${early}, then ${late} bytes`);
});
