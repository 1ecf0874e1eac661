import { HLS_NOTE, IN_LAST_LISTING } from '../../src/listing/label-group.ts';
import { CATALOGUE } from '../../src/metrics/catalogue.ts';
import type { FamilySpec } from '../../src/families/family.ts';

type Key = keyof typeof CATALOGUE;

/** Chapters of the reference; each starts at its first family, in the order of the catalogue. */
const CHAPTERS: readonly { readonly title: string; readonly text: string; readonly first: Key }[] = [
  {
    title: 'From the last successful poll',
    text: 'Gauges of the last listing. When polls fail, they stay until `poll.stale_after` has passed and then disappear; `xvs_up` becomes 0 with the first failure.',
    first: 'up',
  },
  {
    title: 'Accumulated between polls',
    text: 'Counters, and one histogram of lifetimes. They never decrease while the exporter runs, even when tasks end.',
    first: 'httpOutputBytes',
  },
  {
    title: 'Per task',
    text: 'Only with `metrics.per_task`, for at most `metrics.max_tasks` tasks per service code.',
    first: 'taskInfo',
  },
  {
    title: 'Polls',
    text: 'What the exporter knows of its polls.',
    first: 'polls',
  },
  {
    title: 'Process',
    text: 'Without the label `service_code`. In addition, the exporter has the `process_*` and `nodejs_*` metrics of prom-client, collected at most every ten seconds.',
    first: 'series',
  },
];

const HEAD = `# Metrics

Every metric family of xvs-exporter. Quoted words are fields of the \`task_list\` response. All but those of the process have
the label \`service_code\`, and the static labels of the code. Names that end in \`_total\` are counters, those that end in \`_info\`
are 1, the others are gauges if no more is said. HLS (m3u8) is not metered by the service: its connections and
output bytes are always 0.
`;

/** Renders the reference of all metric families, `docs/metrics.md`. */
export function renderMetricsReference(): string {
  const chapters = CHAPTERS.map(({ title, text }, index) => {
    const rows = listFamilies(index).map(formatRow);
    const head = ['| name | labels | meaning |', '| --- | --- | --- |'];
    return [`## ${title}`, '', text, '', ...head, ...rows, ''].join('\n');
  });
  return [HEAD, ...chapters].join('\n');
}

function listFamilies(chapter: number): readonly FamilySpec[] {
  const families: readonly FamilySpec[] = Object.values(CATALOGUE);
  const findStart = (index: number): number => {
    const first = CHAPTERS[index]?.first;
    return first === undefined ? families.length : families.indexOf(CATALOGUE[first]);
  };
  return families.slice(findStart(chapter), findStart(chapter + 1));
}

function formatRow({ name, type, labels, help }: FamilySpec): string {
  const ownLabels = labels.filter((label) => label !== 'service_code').map((label) => `\`${label}\``);
  const meaning = help.replace(`, ${IN_LAST_LISTING}`, '').replace(` ${HLS_NOTE}`, '');
  const note = type === 'histogram' ? ' Histogram.' : '';
  return `| \`${name}\` | ${ownLabels.join(', ')} | ${meaning}${note} |`;
}
