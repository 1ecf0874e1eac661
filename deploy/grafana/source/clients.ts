import { CATALOGUE as C } from '../../../src/metrics/catalogue.ts';
import { NO_LISTING, thresholds } from './appearance.ts';
import { UIDS, type Board } from './board.ts';
import { dashedThresholds, stackedSeries, timeSeries } from './panels.ts';
import { egress, HLS_NOTE, METERED, queriesOf, sum } from './queries.ts';
import { table } from './tables.ts';

const q = queriesOf(['service_code']);
const THIRD = { span: 8, noValue: NO_LISTING };
const HALF = { span: 12, noValue: NO_LISTING };
/** Values of these labels come from end users' terminals: there may be hundreds. */
const LARGEST = 'The ten largest at each moment.';

/** Who watches and who sends, with what; and what they are served. */
export function clients(): Board {
  return {
    uid: UIDS.clients,
    title: 'Clients and delivery',
    description:
      'Who watches and who sends, with what client; what is delivered, in what formats and codecs.',
    filters: ['service_code'],
    span: '6h',
    sections: [
      { title: 'Clients', panels: watchers() },
      { title: 'Delivery', panels: delivery() },
      { title: 'Renditions', panels: renditions() },
    ],
  };
}

function watchers() {
  return [
    stackedSeries(
      { title: 'Users by client version', description: `Users online. ${LARGEST}`, unit: 'locale', ...THIRD },
      { expr: `topk(10, ${sum(['client_version'], q.last(C.onlineUsers))})`, legend: '{{client_version}}' },
    ),
    stackedSeries(
      { title: 'Users by device type', description: `Users online. ${LARGEST}`, unit: 'locale', ...THIRD },
      { expr: `topk(10, ${sum(['device_type'], q.last(C.onlineUsers))})`, legend: '{{device_type}}' },
    ),
    stackedSeries(
      {
        title: 'Inputs by device and version',
        description: `Inputs of tasks, by who sends them. ${LARGEST}`,
        unit: 'locale',
        ...THIRD,
      },
      {
        expr: `topk(10, ${sum(['device_type', 'client_version'], q.last(C.inputClients))})`,
        legend: '{{device_type}} / {{client_version}}',
      },
    ),
  ];
}

function delivery() {
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
        description: `Bits per second that HTTP live output delivers. ${HLS_NOTE}`,
        unit: 'bps',
        ...HALF,
      },
      { expr: delivered, legend: '{{format}}' },
    ),
    timeSeries(
      {
        title: 'Egress per connection',
        description: `What a viewer is served on average. Connections without bytes would be a black hole. ${HLS_NOTE}`,
        unit: 'bps',
        ...HALF,
      },
      { expr: `${delivered} / (${connections} > 0)`, legend: '{{format}}' },
    ),
    dashedThresholds(
      timeSeries(
        {
          title: 'Outputs without viewers',
          description: `Share of outputs that nobody is connected to. ${HLS_NOTE}`,
          unit: 'percentunit',
          ...HALF,
        },
        { expr: `${unwatched} / ${sum(['format'], q.last(C.outputs, METERED))}`, legend: '{{format}}' },
      ).thresholds(thresholds('green', [0.8, 'orange'])),
    ).max(1),
  ];
}

function renditions() {
  return [
    table(
      {
        title: 'Renditions now',
        description: 'Outputs by codecs and resolution: the twenty most frequent.',
        unit: 'short',
        span: 10,
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
          {
            title: 'Outputs',
            expr: `topk(20, ${sum(['video_codec', 'audio_codec', 'resolution'], q.last(C.outputRenditions))})`,
            unit: 'locale',
          },
        ],
        sortBy: ['Outputs', 'descending'],
      },
    ),
    stackedSeries(
      {
        title: 'Outputs by tag',
        description: `Outputs by the label of the output-format configuration. ${LARGEST}`,
        unit: 'locale',
        span: 7,
        height: 9,
        noValue: NO_LISTING,
      },
      { expr: `topk(10, ${sum(['tag'], q.last(C.outputTags))})`, legend: '{{tag}}' },
    ),
    timeSeries(
      {
        title: 'Bit rate of streams, as reported',
        description:
          'Sum of "bit_rate" of streams. The service does not document its unit, and copied streams have none.',
        unit: 'short',
        span: 7,
        height: 9,
        noValue: NO_LISTING,
      },
      {
        expr: sum(['codec_type', 'mode'], q.last(C.streamBitRate)),
        legend: '{{codec_type}} {{mode}}',
      },
    ),
  ];
}
