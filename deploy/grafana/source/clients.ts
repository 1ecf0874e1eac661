import { CATALOGUE as C } from '../../../src/metrics/catalogue.ts';
import { NO_LISTING } from './appearance.ts';
import { largestLines, stackedSeries } from './panels.ts';
import { bits, NOW_NOTE, sum, type Queries } from './queries.ts';
import { table } from './tables.ts';

const THIRD = { span: 8, noValue: NO_LISTING };
const SENDER = ['device_type', 'client_version'];
const RENDITION = ['video_codec', 'audio_codec', 'resolution'];

/**
 * Clients that watch and send, and the renditions that are watched. Takes queries for the end of the time
 * range.
 */
export function clients(q: Queries) {
  return [
    stackedSeries(
      { title: 'Users by client version', description: 'Users online.', unit: 'locale', ...THIRD },
      ...largestLines(
        ['client_version'],
        sum(['client_version'], q.last(C.onlineUsers)),
        '{{client_version}}',
      ),
    ),
    stackedSeries(
      {
        title: 'Inputs by device and version',
        description: 'Inputs of tasks by the sending client.',
        unit: 'locale',
        ...THIRD,
      },
      ...largestLines(SENDER, sum(SENDER, q.last(C.inputClients)), '{{device_type}} / {{client_version}}'),
    ),
    table(
      {
        title: 'Device types now',
        description:
          'Users online and inputs of tasks by device type. The service reports codes; add value mappings to name them.',
        unit: 'sishort',
        ...THIRD,
      },
      {
        keys: [{ label: 'device_type', title: 'Device type' }],
        columns: [
          { title: 'Users', expr: sum(['device_type'], q.last(C.onlineUsers)), unit: 'locale' },
          { title: 'Inputs', expr: sum(['device_type'], q.last(C.inputClients)), unit: 'locale' },
        ],
        sortBy: ['Users', 'descending'],
      },
    ),
    renditionTable(q),
  ];
}

function renditionTable(q: Queries) {
  const outputs = sum(RENDITION, q.last(C.outputRenditions));
  const connections = sum(RENDITION, q.last(C.renditionHttpConnections));
  const mostFrequent = (expr: string): string =>
    `${expr} and on (${RENDITION.join(', ')}) topk(20, ${outputs})`;
  return table(
    {
      title: 'Renditions now',
      description: `The twenty most frequent combinations of codecs and resolution, and what they deliver. Many outputs with few connections cost more than they earn. HLS (m3u8) counts as outputs, but the service does not meter it: its connections and bytes are 0. ${NOW_NOTE}`,
      unit: 'sishort',
      span: 24,
      height: 9,
      noValue: NO_LISTING,
    },
    {
      keys: [
        { label: 'video_codec', title: 'Video', width: 110 },
        { label: 'audio_codec', title: 'Audio', width: 140 },
        { label: 'resolution', title: 'Resolution' },
      ],
      columns: [
        { title: 'Outputs', expr: `topk(20, ${outputs})`, unit: 'locale' },
        { title: 'Connections', expr: mostFrequent(connections), unit: 'locale' },
        {
          title: 'Connections per output',
          expr: mostFrequent(`${connections} / ${outputs}`),
          // 0.08, not "83.3 m".
          unit: 'none',
        },
        {
          title: 'Egress',
          expr: mostFrequent(bits(sum(RENDITION, q.rate(C.renditionHttpOutputBytes)))),
          unit: 'bps',
        },
      ],
      sortBy: ['Outputs', 'descending'],
    },
  );
}
