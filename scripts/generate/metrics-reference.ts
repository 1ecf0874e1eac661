import { CATALOGUE } from './catalogue.ts';
import type { FamilySpec } from './family.ts';

type Key = keyof typeof CATALOGUE;

/** The chapters of the reference: each from its first family on, in the order of the catalogue. */
const CHAPTERS: readonly { readonly title: string; readonly text: string; readonly first: Key }[] = [
  {
    title: 'From the last good listing',
    text: 'Gauges. They stand until `poll.stale_after` when polls fail, and then vanish; `xvs_up` is 0 at once.',
    first: 'up',
  },
  {
    title: 'Accumulated between listings',
    text: 'Counters, and one histogram. They never go backwards while the exporter runs, whatever tasks come and go.',
    first: 'inputBytes',
  },
  {
    title: 'Per task',
    text: 'Only with `metrics.per_task`, for at most `metrics.max_tasks` tasks of a service code.',
    first: 'taskInfo',
  },
  {
    title: 'The exporter about itself',
    text: 'Beside these, the `process_*` and `nodejs_*` metrics of prom-client.',
    first: 'polls',
  },
];

const HEAD = `# Metrics

Every metric family that xvs-exporter exposes. Words in quotes are fields of the service's \`task_list\` answer. In
OpenMetrics, counters and the histograms have \`_created\` too.
`;

/** The reference of all metric families, as Markdown: what \`docs/metrics.md\` holds. */
export function metricsReference(): string {
  const chapters = CHAPTERS.map(({ title, text }, index) => {
    const rows = familiesOf(index).map(row);
    const head = ['| name | type | labels | meaning |', '| --- | --- | --- | --- |'];
    return [`## ${title}`, '', text, '', ...head, ...rows, ''].join('\n');
  });
  return [HEAD, ...chapters].join('\n');
}

function familiesOf(chapter: number): readonly FamilySpec[] {
  const families: readonly FamilySpec[] = Object.values(CATALOGUE);
  const startOf = (index: number): number => {
    const first = CHAPTERS[index]?.first;
    return first === undefined ? families.length : families.indexOf(CATALOGUE[first]);
  };
  return families.slice(startOf(chapter), startOf(chapter + 1));
}

function row({ name, type, labels, help }: FamilySpec): string {
  return `| \`${name}\` | ${type} | ${labels.map((label) => `\`${label}\``).join(', ')} | ${help} |`;
}
