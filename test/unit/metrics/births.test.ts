import assert from 'node:assert/strict';
import { test } from 'node:test';
import { columnByLabel, NO_NUMBERS } from '../../../src/metrics/catalogue/family.ts';
import { CATALOGUE } from '../../../src/metrics/catalogue/catalogue.ts';
import type { ExpositionFormat } from '../../../src/metrics/exposition/exposition.ts';
import { Births } from '../../../src/metrics/exposition/births.ts';
import { PollHistory } from '../../../src/poller/poll-history.ts';
import { Store, type CodeState } from '../../../src/poller/store.ts';
import { render } from '../../support/render.ts';
import { buildTaskRecord } from '../../support/record-builders.ts';
import { TallyRun } from '../../support/tally-run.ts';

type Bytes = Readonly<Record<string, number>>;

/** The exposition of a service code with per-task metrics. Each task is on a server of its own, which has its name. */
class Scrapes {
  readonly run = new TallyRun({ perTask: true, maxLabelSets: 2 });
  readonly #births = new Births();
  readonly #store = new Store();
  #skippedPolls = NO_NUMBERS;

  /** The service code is configured; its first listing is empty. */
  constructor() {
    this.configure();
    this.commit({});
  }

  /** The service code is configured again, with the counters of an earlier process or without. */
  configure(restored?: CodeState['restored']): void {
    this.#store.remove('TESTING');
    const history = new PollHistory();
    this.#store.publish({ serviceCode: 'TESTING', staleAfterMs: 1000, history, restored });
  }

  commit(inputBytes: Bytes): void {
    const tasks = Object.entries(inputBytes).map(([id, bytes]) =>
      buildTaskRecord({ id, vsId: id, name: id, inputBytes: bytes }),
    );
    const [state] = this.#store.states;
    assert.ok(state !== undefined);
    this.#store.publish({ ...state, snapshot: this.run.commitListing({ tasks }) });
  }

  /** Commits a listing and returns what a scrape gets of it. */
  commitAndScrape(inputBytes: Bytes): Bytes {
    this.commit(inputBytes);
    return this.scrape();
  }

  skipPolls(counts: Bytes): void {
    this.#skippedPolls = columnByLabel(Object.entries(counts));
  }

  /** Begins a scrape. Returns input bytes by server and task, and skipped polls by reason. */
  begin(format: ExpositionFormat = 'text', isStale: boolean = false) {
    const { states } = this.#store;
    const listed = states[0]?.snapshot?.at.monotonicMs ?? 0;
    const families = [
      ...this.#store.collectFamilies(isStale ? listed + 1001 : listed),
      { spec: CATALOGUE.pollsSkipped, samples: this.#skippedPolls, serviceCode: 'TESTING' },
    ];
    const codes = states.map((state) => ({ state, isStale, skippedPolls: this.#skippedPolls }));
    const text = render(this.#births.expose({ families, codes }), format);
    return {
      values: Object.fromEntries(text.split('\n').flatMap(readCounter)),
      answered: () => this.#births.recordAnswer(codes),
    };
  }

  scrape(format?: ExpositionFormat, isStale?: boolean): Bytes {
    const { values, answered } = this.begin(format, isStale);
    answered();
    return values;
  }
}

const COUNTER =
  /^xvs_(?:expected_)?(?:task_)?(?:input_bytes|exporter_polls_skipped)_total\{service_code="TESTING",(\w+)="(.*)"\} (\d+)$/;

/** The label of a counter, with `task` before the id and `name` before the name of a task, and its value. */
function readCounter(line: string): [string, number][] {
  const [, label, text, value] = COUNTER.exec(line) ?? [];
  const prefix = label === 'task_id' ? 'task ' : label === 'task_name' ? 'name ' : '';
  return label === undefined ? [] : [[`${prefix}${text}`, Number(value)]];
}

test('a new counter is at 0 until a scrape has been answered with that, and has its total from the next listing on', () => {
  for (const format of ['text', 'openmetrics'] as const) {
    const scrapes = new Scrapes();
    scrapes.commit({ a: 700 });
    scrapes.commit({ a: 800 });
    // A response that is not finished, or to HEAD.
    assert.deepEqual(scrapes.begin(format).values, { a: 0, 'task a': 0 });
    scrapes.commit({ a: 900 });
    assert.deepEqual(scrapes.scrape(format), { a: 0, 'task a': 0 });
    assert.deepEqual(scrapes.scrape('text'), { a: 0, 'task a': 0 });
    assert.deepEqual(scrapes.commitAndScrape({ a: 1000 }), { a: 1000, 'task a': 1000 });
    assert.deepEqual(scrapes.commitAndScrape({ a: 1000, b: 5 }), {
      a: 1000,
      b: 0,
      'task a': 1000,
      'task b': 0,
    });
  }
});

test('a new counter that does not change has its total from the next listing on', () => {
  const scrapes = new Scrapes();
  assert.deepEqual(scrapes.commitAndScrape({ a: 700 }), { a: 0, 'task a': 0 });
  for (let listing = 0; listing < 3; listing += 1)
    assert.deepEqual(scrapes.commitAndScrape({ a: 700 }), { a: 700, 'task a': 700 });
});

test('of two scrapes, the one with the later listing counts, even if the other ends after it', () => {
  const scrapes = new Scrapes();
  const earlier = scrapes.begin();
  assert.deepEqual(scrapes.commitAndScrape({ a: 700 }), { a: 0, 'task a': 0 });
  earlier.answered();
  assert.deepEqual(scrapes.commitAndScrape({ a: 800 }), { a: 800, 'task a': 800 });
});

test('a label set of an earlier process is not new, that of a task included', () => {
  const scrapes = new Scrapes();
  scrapes.commit({ a: 700 });
  scrapes.run.restart();
  scrapes.configure(scrapes.run.tally.collectCounts());
  assert.deepEqual(scrapes.scrape(), { a: 700 });
  const values = { a: 800, b: 0, 'task a': 800, 'task b': 0 };
  assert.deepEqual(scrapes.commitAndScrape({ a: 800, b: 5 }), values);
});

test('a service code that was removed and is configured again is new', () => {
  const scrapes = new Scrapes();
  scrapes.commitAndScrape({ a: 700 });
  scrapes.configure();
  assert.deepEqual(scrapes.commitAndScrape({ a: 800 }), { a: 0, 'task a': 0 });
});

test('a counter that was evicted and comes back is new', () => {
  const scrapes = new Scrapes();
  scrapes.commitAndScrape({ a: 700, b: 700 });
  assert.deepEqual(scrapes.commitAndScrape({ b: 700 }), { a: 700, b: 700, 'task b': 700 });
  scrapes.run.wait(3_600_001);
  scrapes.commitAndScrape({ b: 700, c: 700 });
  scrapes.commitAndScrape({ c: 700 });
  scrapes.run.wait(3_600_001);
  const values = { a: 0, c: 700, 'task a': 0, 'task c': 700 };
  assert.deepEqual(scrapes.commitAndScrape({ a: 800, c: 700 }), values);
});

test('a scrape of a stale listing, which has no tasks, does not count for them', () => {
  const scrapes = new Scrapes();
  scrapes.commitAndScrape({ a: 700 });
  scrapes.commit({ a: 800, b: 800 });
  assert.deepEqual(scrapes.scrape('text', true), { a: 800, b: 0 });
  const values = { a: 900, b: 900, 'task a': 900, 'task b': 0 };
  assert.deepEqual(scrapes.commitAndScrape({ a: 900, b: 900 }), values);
});

test('an expected name is new once, also if it comes back or was expected by an earlier process', () => {
  const scrapes = new Scrapes();
  const read = (bytes: number, ...names: readonly string[]) => {
    scrapes.run.expect(...names);
    return scrapes.commitAndScrape({ a: bytes })['name a'];
  };
  assert.equal(read(700, 'a'), 0);
  assert.equal(read(800, 'a'), 800);
  assert.equal(read(900), undefined);
  assert.equal(read(1000, 'a'), 900);
  scrapes.run.restart();
  scrapes.configure(scrapes.run.tally.collectCounts());
  assert.equal(scrapes.scrape()['name a'], 900);
  assert.equal(read(1100, 'a'), 1000);
  // A scrape that had no value of a name that was removed.
  const other = new Scrapes();
  other.run.expect('a');
  other.commit({ a: 700 });
  other.run.expect();
  assert.equal(other.commitAndScrape({ a: 800 })['name a'], undefined);
  other.run.expect('a');
  assert.equal(other.commitAndScrape({ a: 900 })['name a'], 800);
});

test('skipped polls are at 0 until a scrape has been answered with that', () => {
  const scrapes = new Scrapes();
  scrapes.skipPolls({ overlap: 1 });
  assert.deepEqual(scrapes.begin().values, { overlap: 0 });
  scrapes.skipPolls({ overlap: 2 });
  assert.deepEqual(scrapes.scrape(), { overlap: 0 });
  scrapes.skipPolls({ overlap: 2, retry_after: 1 });
  assert.deepEqual(scrapes.scrape(), { overlap: 2, retry_after: 0 });
  assert.deepEqual(scrapes.scrape(), { overlap: 2, retry_after: 1 });
});
