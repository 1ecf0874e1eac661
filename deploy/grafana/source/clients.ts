import { CATALOGUE as C } from '../../../src/metrics/catalogue/catalogue.ts';
import { DEVICE_TYPES, NO_LISTING, thresholds } from './appearance.ts';
import type { DashboardSpec } from './dashboard-builder.ts';
import { UIDS } from './links.ts';
import { dashedThresholds, stackedSeries, timeSeries } from './panels.ts';
import { bits, CATCH_UP_NOTE, egress, HLS_NOTE, METERED, NOW_NOTE, createQueries, sum } from './queries.ts';
import { table } from './tables.ts';

const q = createQueries(['service_code']);
const now = createQueries(['service_code'], { isInstant: true });
const THIRD = { span: 8, noValue: NO_LISTING };
const HALF = { span: 12, noValue: NO_LISTING };
/** End users' terminals send the values of these labels: there may be hundreds. */
const LARGEST = 'The ten largest at each time.';

export function clients(): DashboardSpec {
  return {
    uid: UIDS.clients,
    title: 'Clients and delivery',
    description: 'Clients that watch and send; delivery by format; renditions by codec.',
    filters: ['service_code'],
    span: '6h',
    sections: [
      { title: 'Clients', panels: clientPanels() },
      { title: 'Delivery', panels: deliveryPanels() },
      { title: 'Renditions', panels: renditionPanels() },
    ],
  };
}

function clientPanels() {
  return [
    stackedSeries(
      { title: 'Users by client version', description: `Users online. ${LARGEST}`, unit: 'locale', ...HALF },
      { expr: `topk(10, ${sum(['client_version'], q.last(C.onlineUsers))})`, legend: '{{client_version}}' },
    ),
    stackedSeries(
      { title: 'Users by device type', description: `Users online. ${LARGEST}`, unit: 'locale', ...HALF },
      { expr: `topk(10, ${sum(['device_type'], q.last(C.onlineUsers))})`, legend: '{{device_type}}' },
    ),
    stackedSeries(
      {
        title: 'Inputs by device and version',
        description: `Inputs of tasks by the sending client. ${LARGEST}`,
        unit: 'locale',
        ...HALF,
      },
      {
        expr: `topk(10, ${sum(['device_type', 'client_version'], q.last(C.inputClients))})`,
        legend: '{{device_type}} / {{client_version}}',
      },
    ),
    table(
      {
        title: 'Device types now',
        description:
          'Users online and inputs of tasks by device type. The service reports codes; value mappings of this panel can name them.',
        unit: 'sishort',
        span: 12,
        noValue: NO_LISTING,
      },
      {
        keys: [{ label: 'device_type', title: 'Device type', mappings: DEVICE_TYPES }],
        columns: [
          { title: 'Users', expr: sum(['device_type'], q.last(C.onlineUsers)), unit: 'locale' },
          { title: 'Inputs', expr: sum(['device_type'], q.last(C.inputClients)), unit: 'locale' },
        ],
        sortBy: ['Users', 'descending'],
      },
    ),
  ];
}

function deliveryPanels() {
  const delivered = egress(q, ['format']);
  const connections = sum(['format'], q.last(C.httpConnections, METERED));
  const unwatched = sum(['format'], q.last(C.outputsUnwatched, METERED));
  return [
    timeSeries(
      {
        title: 'Connections by format',
        description: `HTTP connections of viewers. ${HLS_NOTE}`,
        unit: 'locale',
        ...HALF,
      },
      { expr: connections, legend: '{{format}}' },
    ),
    timeSeries(
      {
        title: 'Egress by format',
        description: `HTTP live output in bits per second. ${CATCH_UP_NOTE} ${HLS_NOTE}`,
        unit: 'bps',
        ...HALF,
      },
      { expr: delivered, legend: '{{format}}' },
    ),
    timeSeries(
      {
        title: 'Egress per connection',
        description: `Mean output per viewer. 0 means connected viewers who receive nothing. ${CATCH_UP_NOTE} ${HLS_NOTE}`,
        unit: 'bps',
        ...HALF,
      },
      { expr: `${delivered} / (${connections} > 0)`, legend: '{{format}}' },
    ),
    dashedThresholds(
      timeSeries(
        {
          title: 'Outputs without viewers',
          description: `Share of outputs without connections. ${HLS_NOTE}`,
          unit: 'percentunit',
          ...HALF,
        },
        { expr: `${unwatched} / ${sum(['format'], q.last(C.outputs, METERED))}`, legend: '{{format}}' },
      ).thresholds(thresholds('green', [0.8, 'orange'])),
    ).max(1),
  ];
}

const RENDITION = ['video_codec', 'audio_codec', 'resolution'];
const BY_RENDITION = '{{video_codec}} {{audio_codec}} {{resolution}}';

function renditionPanels() {
  const outputs = sum(RENDITION, q.last(C.outputRenditions));
  const connections = sum(RENDITION, q.last(C.renditionHttpConnections));
  const deliveredBy = (queries: typeof q): string =>
    bits(sum(RENDITION, queries.rate(C.renditionHttpOutputBytes)));
  const mostFrequent = (expr: string): string =>
    `${expr} and on (${RENDITION.join(', ')}) topk(20, ${outputs})`;
  return [
    table(
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
          { title: 'Egress', expr: mostFrequent(deliveredBy(now)), unit: 'bps' },
        ],
        sortBy: ['Outputs', 'descending'],
      },
    ),
    stackedSeries(
      {
        title: 'Connections by rendition',
        description: `HTTP connections of viewers. ${LARGEST} ${HLS_NOTE}`,
        unit: 'locale',
        ...HALF,
      },
      { expr: `topk(10, ${connections})`, legend: BY_RENDITION },
    ),
    stackedSeries(
      {
        title: 'Egress by rendition',
        description: `HTTP live output in bits per second. ${LARGEST} ${CATCH_UP_NOTE} ${HLS_NOTE}`,
        unit: 'bps',
        ...HALF,
      },
      { expr: `topk(10, ${deliveredBy(q)})`, legend: BY_RENDITION },
    ),
    stackedSeries(
      {
        title: 'Outputs by tag',
        description: `Outputs by the label of the output-format configuration. ${LARGEST}`,
        unit: 'locale',
        ...THIRD,
      },
      { expr: `topk(10, ${sum(['tag'], q.last(C.outputTags))})`, legend: '{{tag}}' },
    ),
    stackedSeries(
      {
        title: 'Streams by codec',
        description: `Streams of outputs by codec_id, as reported. The service documents no list of codecs; its sample has 28 for video and 86018 for audio. ${LARGEST}`,
        unit: 'locale',
        ...THIRD,
      },
      {
        expr: `topk(10, ${sum(['codec_type', 'codec_id'], q.last(C.streamCodecs))})`,
        legend: '{{codec_type}} {{codec_id}}',
      },
    ),
    timeSeries(
      {
        title: 'Reported bit rate of streams',
        description:
          'Sum of "bit_rate" of streams. The service does not document the unit; its sample looks like bits per second. Copied streams have no bit rate.',
        unit: 'bps',
        ...THIRD,
      },
      {
        expr: sum(['codec_type', 'mode'], q.last(C.streamBitRate)),
        legend: '{{codec_type}} {{mode}}',
      },
    ),
  ];
}
