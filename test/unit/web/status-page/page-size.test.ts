import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import type { ServiceCodeStatus } from '../../../../src/web/exporter-facade.ts';
import { renderListPage } from '../../../../src/web/status-page/list-page.ts';
import { renderServiceCodePage } from '../../../../src/web/status-page/service-code-page.ts';
import { MAX_COST_RATIO, measureCostRatio } from '../../../support/cost-ratio.ts';
import { createRunParameters } from '../../../support/run-parameters.ts';
import { createEmptyFacade } from '../fake-facade.ts';
import {
  createBreakdown,
  createDownStatus,
  createLosses,
  createStatus,
  createTotals,
  minutesAgo,
  NOW_MS,
} from './status-fixtures.ts';

/** `metrics.max_label_sets` by default, and the names of an expectation. */
const MAX_LABEL_SETS = 2000;
const MAX_NAMES = 1000;
/** What a sentence or a table shows, and one that is counted. */
const SHOWN = 11;
const CODES = 20;

interface Counts {
  readonly servers: number;
  readonly deliveries: number;
  readonly missing: number;
  readonly slow: number;
  readonly isDown: boolean;
}

const name = (index: number): string => `name-${String(index).padStart(4, '0')}`;
const range = <T>(count: number, create: (index: number) => T): T[] =>
  Array.from({ length: count }, (_, index) => create(index));

function createCode({ servers, deliveries, missing, slow, isDown }: Counts, code: number): ServiceCodeStatus {
  const since = minutesAgo(3);
  const expectedTasks = [
    ...range(missing, (index) => ({ name: name(index), condition: 'missing', sinceMs: NOW_MS }) as const),
    ...range(
      slow,
      (index) => ({ name: name(index), condition: 'up', sinceMs: NOW_MS, slowSinceMs: NOW_MS }) as const,
    ),
  ].map((task) => ({ ...task, outputs: 1, fewerOutputs: { than: 2, sinceMs: NOW_MS } }));
  const create = isDown ? createDownStatus : createStatus;
  return create(`code-${code}`, {
    losses: createLosses({
      servers: range(servers, (index) => ({ vsId: name(index), before: 9, since })),
      deliveries: range(deliveries, (index) => ({ vsId: name(index), format: 'flv', before: 9, since })),
    }),
    expectedTasks,
    expectedTaskCount: expectedTasks.length,
    ...(!isDown && { totals: createTotals({ tasks: 9999 }) }),
  });
}

const renderList = (counts: Counts): string =>
  renderListPage(
    createEmptyFacade({ getStatuses: () => range(CODES, (code) => createCode(counts, code)) }),
    new URLSearchParams(),
  );

const renderCode = (counts: Counts, all: string): string =>
  renderServiceCodePage(
    createEmptyFacade({
      getStatus: () => createCode(counts, 0),
      getBreakdown: () => createBreakdown(name, counts.servers),
    }),
    new URLSearchParams(`service_code=code-0${all}`),
  ) ?? '';

const arbitraryCounts = fc.record({
  servers: fc.nat(MAX_LABEL_SETS),
  deliveries: fc.nat(MAX_LABEL_SETS),
  missing: fc.nat(MAX_NAMES / 2),
  slow: fc.nat(MAX_NAMES / 2),
  isDown: fc.boolean(),
});

const limit = (counts: Counts): Counts => ({
  servers: Math.min(counts.servers, SHOWN),
  deliveries: Math.min(counts.deliveries, SHOWN),
  missing: Math.min(counts.missing, SHOWN),
  slow: Math.min(counts.slow, SHOWN),
  isDown: counts.isDown,
});

/** Digits of counts. */
const SLACK = 200;

test('a page grows with the rows that it shows, whatever a snapshot has', () => {
  fc.assert(
    fc.property(arbitraryCounts, (counts) => {
      const few = limit(counts);
      assert.ok(renderList(counts).length <= renderList(few).length + CODES * SLACK);
      assert.ok(renderCode(counts, '').length <= renderCode(few, '').length + SLACK);
      const rows = counts.servers + counts.missing + counts.slow;
      assert.ok(renderCode(counts, '&all').length <= renderCode(few, '').length + SLACK + 1500 * rows);
    }),
    createRunParameters(20),
  );
});

test('the list costs at most ten times one with a little of everything', async () => {
  const half = MAX_NAMES / 2;
  const most = { servers: MAX_LABEL_SETS, deliveries: MAX_LABEL_SETS, missing: half, slow: half };
  for (const isDown of [false, true]) {
    const codes = range(CODES, (code) => createCode({ ...most, isDown }, code));
    const few = range(CODES, (code) => createCode(limit({ ...most, isDown }), code));
    const view = (statuses: readonly ServiceCodeStatus[]) => () =>
      renderListPage(createEmptyFacade({ getStatuses: () => statuses }), new URLSearchParams());
    assert.ok((await measureCostRatio(view(codes), view(few))) < MAX_COST_RATIO);
  }
});
