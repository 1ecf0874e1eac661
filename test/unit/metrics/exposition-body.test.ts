import assert from 'node:assert/strict';
import { test } from 'node:test';
import { CATALOGUE } from '../../../src/metrics/catalogue/catalogue.ts';
import type { ExpositionFormat } from '../../../src/metrics/exposition/exposition-lines.ts';
import { Exposition } from '../../../src/metrics/exposition/exposition.ts';
import {
  columnByLabel,
  columnOf,
  type Family,
  type FamilySelection,
} from '../../../src/metrics/catalogue/family.ts';
import { render } from '../../support/render.ts';

const FORMATS: readonly ExpositionFormat[] = ['text', 'openmetrics'];

/** Families of one service code, then one of the process; new objects each time. */
function createFamilies(tasks: number, series: number): readonly Family[] {
  return [
    { spec: CATALOGUE.up, samples: columnOf(1), serviceCode: 'A' },
    { spec: CATALOGUE.tasks, samples: columnByLabel([['running', tasks]]), serviceCode: 'A' },
    { spec: CATALOGUE.series, samples: columnOf(series) },
  ];
}

for (const format of FORMATS) {
  test(`equal expositions in ${format} share one body, and equal service codes share its head`, () => {
    const exposition = new Exposition();
    const renderBody = (tasks: number, series: number) =>
      exposition.renderBody('everything', createFamilies(tasks, series), format);
    const first = renderBody(1, 3);
    assert.equal(renderBody(1, 3), first);
    for (const [tasks, series, sharesHead] of [
      [1, 4, true],
      [1, 55, true],
      [2, 55, false],
      [20, 55, false],
    ] as const) {
      const { head } = renderBody(1, 3);
      const body = renderBody(tasks, series);
      assert.equal(body.bytes.toString(), render(createFamilies(tasks, series), format));
      assert.equal(body.head === head, sharesHead, `${tasks} tasks, ${series} series`);
    }
  });
}

test('samples that were hidden for a while are rendered again', () => {
  const exposition = new Exposition();
  const families = createFamilies(1, 3);
  for (const format of FORMATS)
    for (const shown of [families, families.slice(1), families, families.slice(2), families])
      assert.equal(
        exposition.renderBody('everything', shown, format).bytes.toString(),
        render(shown, format),
      );
});

test('bodies are kept by format and selection', () => {
  const exposition = new Exposition();
  const selections: readonly FamilySelection[] = [
    'everything',
    'exporter',
    { serviceCode: 'everything' },
    { serviceCode: 'A' },
  ];
  const renderAll = () =>
    selections.flatMap((selection) =>
      FORMATS.map((format) => exposition.renderBody(selection, createFamilies(1, 3), format)),
    );
  const bodies = renderAll();
  assert.equal(new Set(bodies).size, selections.length * FORMATS.length);
  assert.deepEqual(
    renderAll().map((body, index) => body === bodies[index]),
    bodies.map(() => true),
  );
});

test('the least recently used bodies above 32 MiB are not kept, but the last one always is', () => {
  const exposition = new Exposition();
  const renderBody = (code: string, megabytes: number) =>
    exposition.renderBody(
      { serviceCode: code },
      [{ spec: CATALOGUE.up, samples: columnByLabel([[code + 'x'.repeat(megabytes * 1024 * 1024), 1]]) }],
      'text',
    );
  const [a, b] = [renderBody('A', 12), renderBody('B', 12)];
  assert.equal(renderBody('A', 12), a);
  renderBody('C', 12);
  assert.equal(renderBody('A', 12), a);
  assert.notEqual(renderBody('B', 12), b);
  const large = renderBody('D', 40);
  assert.equal(renderBody('D', 40), large);
  assert.notEqual(renderBody('A', 12), a);
});
