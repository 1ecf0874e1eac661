import { recordOf } from '../families/record-of.ts';
import {
  counted,
  counter,
  expectedTask,
  gauge,
  HLS_NOTE,
  info,
  input,
  stayingGauge,
  listed,
  output,
  singleTask,
  stream,
  task,
  timestamp,
  user,
  whole,
  type LabelGroup,
  type TaskLabel,
} from './label-group.ts';

/* The table of families: catalogue, limits of label sets, state and reference follow from it. */

const CODEC_TYPES = ['video', 'audio'];
/** The modes by `copy`: the sample has 0, and the text 2, for a stream that is not copied. */
const MODES = ['transcode', 'copy', 'transcode'];

export const NAMED_VALUES: ReadonlySet<string> = new Set([...CODEC_TYPES, ...MODES]);
const SERVER: TaskLabel = { ofTask: 'vs_id' };
const CODEC_TYPE = { enumeration: 'codec_type', names: CODEC_TYPES } as const;
const MODE = { enumeration: 'copy', names: MODES } as const;
const HLS = `. ${HLS_NOTE}`;

export const LABEL_GROUPS = {
  listing: whole([], {
    listingUsers: gauge('xvs_listing_users', 'Users of "user_list"', '; 0 if it is empty.'),
    listingTasks: gauge('xvs_listing_tasks', 'Tasks of "task_list"', '; 0 if it is empty.'),
  }),
  users: user(
    { client_version: 'client_version', device_type: 'device_type' },
    {
      onlineUsers: gauge('xvs_online_users', 'Users of "user_list" by "client_version" and "device_type"'),
    },
    { onlineUsers: 1 },
  ),
  userServers: user(
    { vs_id: 'vs_id' },
    { serverOnlineUsers: stayingGauge('xvs_server_online_users', 'Users of "user_list" by "vs_id"') },
    { serverOnlineUsers: 1 },
  ),
  taskServers: task(
    { vs_id: 'vs_id' },
    {
      tasks: stayingGauge('xvs_tasks', 'Tasks of "task_list" by "vs_id"'),
      tasksWithProgress: gauge(
        'xvs_tasks_with_progress',
        'Tasks with "progress" > 0 (live tasks, and file tasks that have just started, have 0)',
      ),
    },
    { tasks: 1, tasksWithProgress: { countOf: 'progress', where: '> 0' } },
  ),
  inputs: input(
    { vs_id: SERVER, protocol: 'url' },
    { inputs: gauge('xvs_inputs', 'Inputs of tasks by the scheme of "url" (tcp_upload if it is empty)') },
    { inputs: 1 },
  ),
  inputClients: input(
    { device_type: 'device_type', client_version: { firstOf: ['device_version', 'client_version'] } },
    {
      inputClients: gauge(
        'xvs_input_clients',
        'Inputs of tasks by "device_type" and "device_version" (or "client_version")',
      ),
    },
    { inputClients: 1 },
  ),
  outputs: output(
    { vs_id: SERVER, format: 'format' },
    {
      outputs: gauge('xvs_outputs', 'Outputs of tasks by "format"'),
      httpConnections: gauge('xvs_http_connections', 'Sum of "http_connections_num" of outputs', HLS),
      outputsUnwatched: gauge(
        'xvs_outputs_unwatched',
        'Outputs with "http_connections_num" = 0, of formats of which some output has had a connection since the start, or before as the state knows',
      ),
      httpOutputBytes: counter(
        'xvs_http_output_bytes_total',
        `Bytes delivered by HTTP live output since the first good listing of the code, in this process or its state ("http_output_bytes")${HLS}`,
      ),
    },
    {
      outputs: 1,
      httpConnections: { sumOf: 'http_connections_num' },
      outputsUnwatched: { countOf: 'http_connections_num', where: '=== 0' },
      httpOutputBytes: 'ledger',
    },
  ),
  renditions: output(
    {
      video_codec: 'video_codec_name',
      audio_codec: 'audio_codec_name',
      resolution: { sizeOf: ['width', 'height'] },
    },
    {
      outputRenditions: gauge(
        'xvs_output_renditions',
        'Outputs by "video_codec_name", "audio_codec_name" and "width"x"height"',
      ),
      renditionHttpConnections: gauge(
        'xvs_rendition_http_connections',
        'Sum of "http_connections_num" of outputs by rendition',
        HLS,
      ),
      renditionHttpOutputBytes: counter(
        'xvs_rendition_http_output_bytes_total',
        `Bytes delivered by HTTP live output by rendition ("http_output_bytes")${HLS}`,
      ),
    },
    {
      outputRenditions: 1,
      renditionHttpConnections: { sumOf: 'http_connections_num' },
      renditionHttpOutputBytes: 'ledger',
    },
  ),
  tags: output(
    { tag: 'tag' },
    {
      outputTags: gauge('xvs_output_tags', 'Outputs by "tag", the label of the output-format configuration'),
    },
    { outputTags: 1 },
  ),
  streams: stream(
    { vs_id: SERVER, codec_type: CODEC_TYPE, mode: MODE },
    {
      streams: gauge(
        'xvs_streams',
        'Media streams of outputs by "codec_type" (video, audio) and mode ("copy" = 1: copy; 0 or 2: transcode)',
      ),
    },
    { streams: 1 },
  ),
  codecs: stream(
    { codec_type: CODEC_TYPE, codec_id: 'codec_id' },
    {
      streamCodecs: gauge(
        'xvs_stream_codecs',
        'Media streams of outputs by "codec_type" (video, audio) and "codec_id"',
      ),
    },
    { streamCodecs: 1 },
  ),
  bitRates: stream(
    { codec_type: CODEC_TYPE, mode: MODE },
    {
      streamBitRate: gauge(
        'xvs_stream_bit_rate',
        'Sum of "bit_rate" of streams as reported; the service does not document its unit',
      ),
    },
    { streamBitRate: { sumOf: 'bit_rate' } },
  ),
  accounts: counted(['vs_id'], {
    tasksStalled: gauge(
      'xvs_tasks_stalled',
      'Live tasks whose "input_bytes" has exceeded 0 but has not changed for poll.stall_after',
    ),
    tasksLongStalled: gauge(
      'xvs_tasks_long_stalled',
      'Those of xvs_tasks_stalled that have been for an hour, or whose "input_bytes" was never seen to grow',
    ),
    tasksWithoutInput: gauge(
      'xvs_tasks_without_input',
      'Live tasks first seen longer ago than poll.stall_after whose "input_bytes" has always been 0',
    ),
    fileTasksStalled: gauge(
      'xvs_file_tasks_stalled',
      'Tasks with "progress" > 0 that has been unchanged for poll.stall_after',
    ),
    inputBytes: counter(
      'xvs_input_bytes_total',
      'Bytes received by tasks since the first good listing of the code, in this process or its state ("input_bytes").',
    ),
    tasksStarted: counter(
      'xvs_tasks_started_total',
      'Tasks that appeared between successive good listings, or moved to this server.',
    ),
    tasksEnded: counter(
      'xvs_tasks_ended_total',
      'Tasks that disappeared between successive good listings, or moved to another server.',
    ),
  }),
  waiting: counted(['vs_id', 'direction'], {
    byteCountsWaiting: stayingGauge(
      'xvs_byte_counts_waiting',
      'Byte counts of tasks that wait for later listings to confirm them, by direction (input, http_output)',
    ),
  }),
  protocols: counted(['protocol'], {
    protocolInputBytes: counter(
      'xvs_protocol_input_bytes_total',
      'Bytes received by tasks with exactly one input, by the scheme of its "url" (tcp_upload where it is empty).',
    ),
  }),
  directions: counted(['direction'], {
    byteCountResets: counter(
      'xvs_byte_count_resets_total',
      'Byte counts of the service that began again, confirmed by three listings, by direction (input, http_output).',
    ),
    byteCountImplausible: counter(
      'xvs_byte_count_implausible_total',
      'Byte counts in listings that wait for later ones to confirm them, unless below half of the last accepted one, or with which a new task, input or output cannot have begun, by direction (input, http_output).',
    ),
  }),
  serversSeen: whole(['vs_id'], {
    serverLastSeen: timestamp(
      'xvs_server_last_seen_timestamp_seconds',
      'When a "vs_id" was last in a good listing; kept for one hour after it disappeared.',
    ),
  }),
  oldestTasks: whole(['vs_id'], {
    oldestTaskFirstSeen: timestamp(
      'xvs_oldest_task_first_seen_timestamp_seconds',
      'When the oldest task of a "vs_id" was first listed; begins again after an absence.',
    ),
  }),
  losses: whole([], {
    tasksBeforeLoss: gauge(
      'xvs_listing_tasks_before_loss',
      'Tasks before most were lost, while that goes on',
      '; 0 if it does not; absent if that is unknown.',
    ),
    usersBeforeLoss: gauge(
      'xvs_listing_users_before_loss',
      'Users before most were lost, while that goes on',
      '; 0 if it does not; absent if that is unknown.',
    ),
    tasksBeforeIngestStop: gauge(
      'xvs_tasks_before_ingest_stop',
      'Live tasks that received data before most stopped, while that goes on',
      '; 0 if it does not; absent if that is unknown.',
    ),
  }),
  serverLosses: whole(['vs_id'], {
    serverTasksBeforeLoss: gauge(
      'xvs_server_tasks_before_loss',
      'Tasks of a server that has left with them, until it is back or half run elsewhere, an hour at most',
    ),
  }),
  deliveryStops: whole(['vs_id', 'format'], {
    connectionsBeforeStop: gauge(
      'xvs_http_connections_before_stop',
      'Connections to outputs of a format and server before their bytes stopped, though their input flows, an hour at most',
    ),
  }),
  invalidRecords: listed(['record', 'reason'], {
    invalidRecords: counter(
      'xvs_exporter_invalid_records_total',
      'Entries rejected from good listings, by record and reason.',
    ),
  }),
  invalidFields: listed(['record', 'field'], {
    invalidFields: counter(
      'xvs_exporter_invalid_fields_total',
      'Fields of good listings that count as missing because of a wrong type or range, by record and field.',
    ),
  }),
  foreignRecords: listed(['record'], {
    foreignRecords: counter(
      'xvs_exporter_foreign_records_total',
      'Records of good listings whose service_code is not the polled one, by record.',
    ),
  }),
  listingSurplus: listed(['item'], {
    listingSurplus: counter(
      'xvs_exporter_listing_surplus_total',
      'Items of good listings beyond a limit, by item: of the listing, or of the accounts of all service codes (account: tasks without accounts).',
    ),
  }),
  foldedLabelSets: whole(['family'], {
    foldedLabelSets: gauge(
      'xvs_exporter_folded_label_sets',
      'Label sets folded into __other__ (per-task families: omitted), by family',
    ),
  }),

  // A name in `expect` has these as long as it is expected.
  expectedNames: expectedTask(['task_name'], {
    expectedTaskInputBytes: counter(
      'xvs_expected_task_input_bytes_total',
      'Bytes received by the tasks of an expected name since it is expected ("input_bytes"), over restarts and moves.',
    ),
    expectedTaskHttpOutputBytes: counter(
      'xvs_expected_task_http_output_bytes_total',
      `Bytes delivered by HTTP live output of the tasks of an expected name since it is expected ("http_output_bytes")${HLS}`,
    ),
    expectedTaskHttpConnections: gauge(
      'xvs_expected_task_http_connections',
      'Sum of "http_connections_num" of outputs of the tasks of an expected name; absent if none is listed',
      HLS,
    ),
  }),

  // The tally has these only with metrics.per_task.
  taskInfos: singleTask(['task_id', 'vs_id', 'formats', 'merging', 'task_name'], {
    taskInfo: info(
      'xvs_task_info',
      'Server, output formats and merging of inputs of a task, and its name with tasks.name',
    ),
  }),
  singleTasks: singleTask(['task_id'], {
    taskInputBytes: counter(
      'xvs_task_input_bytes_total',
      'Bytes received by a task since its series began ("input_bytes"); begins again at 0 after an absence.',
    ),
    taskStalled: gauge('xvs_task_stalled', '1 if a task is stalled (see xvs_tasks_stalled)'),
    taskProgress: gauge('xvs_task_progress', '"progress" of a task as reported; always 0 for live tasks'),
    taskFirstSeen: timestamp(
      'xvs_task_first_seen_timestamp_seconds',
      'When a task was first listed; begins again after an absence.',
    ),
  }),
  taskFormats: singleTask(['task_id', 'format'], {
    taskHttpOutputBytes: counter(
      'xvs_task_http_output_bytes_total',
      `Bytes delivered by HTTP live output of a task since its series began ("http_output_bytes"); begins again at 0 after an absence${HLS}`,
    ),
    taskHttpConnections: gauge(
      'xvs_task_http_connections',
      'Sum of "http_connections_num" of a task\'s outputs',
      HLS,
    ),
  }),
} as const;

type Groups = typeof LABEL_GROUPS;
export type LabelGroupName = keyof Groups;
type GroupOfOrigin<Of> = {
  [G in LabelGroupName]: Groups[G]['of'] extends Of ? G : never;
}[LabelGroupName];
export type RecordGroupName = GroupOfOrigin<'user' | 'task' | 'input' | 'output' | 'stream'>;
export type ListedGroupName = GroupOfOrigin<'listed'>;
export type CountedGroupName = GroupOfOrigin<'counted'>;
export type LimitedGroupName = RecordGroupName | ListedGroupName | CountedGroupName;
export type WholeGroupName = GroupOfOrigin<'whole'>;
export type ExpectedGroupName = GroupOfOrigin<'expected_task'>;
export type TaskGroupName = GroupOfOrigin<'single_task'>;

export type FamilyOf<G extends LabelGroupName> = G extends LabelGroupName
  ? keyof Groups[G]['families'] & string
  : never;
export type LabelNameOf<G extends LabelGroupName> = keyof Groups[G]['labels'] & string;
type FamilyOfType<G extends LabelGroupName, Type> = {
  [Name in G]: {
    [F in keyof Groups[Name]['families']]: Groups[Name]['families'][F] extends { readonly type: Type }
      ? F & string
      : never;
  }[keyof Groups[Name]['families']];
}[G];
export type TableGaugeKey = FamilyOfType<Exclude<LabelGroupName, TaskGroupName>, 'gauge'>;
export type TableCounterKey = FamilyOfType<Exclude<LabelGroupName, TaskGroupName>, 'counter'>;
export type TableFamilyKey = FamilyOf<LabelGroupName>;

export function labelGroup(name: LabelGroupName): LabelGroup {
  return LABEL_GROUPS[name];
}

function listGroups<Of extends LabelGroup['of']>(...of: readonly Of[]): readonly GroupOfOrigin<Of>[] {
  // `Object.keys` is typed as string[].
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion
  const names = Object.keys(LABEL_GROUPS) as LabelGroupName[];
  return names.filter((name): name is GroupOfOrigin<Of> => of.some((one) => one === labelGroup(name).of));
}

export const RECORD_GROUPS = listGroups('user', 'task', 'input', 'output', 'stream');
export const LISTED_GROUPS = listGroups('listed');
export const COUNTED_GROUPS = listGroups('counted');
export const LIMITED_GROUPS = [...RECORD_GROUPS, ...LISTED_GROUPS, ...COUNTED_GROUPS];
const WHOLE_GROUPS = listGroups('whole');
const EXPECTED_GROUPS = listGroups('expected_task');
export const TASK_GROUPS = listGroups('single_task');
export const LABEL_GROUP_NAMES = [...LIMITED_GROUPS, ...WHOLE_GROUPS, ...EXPECTED_GROUPS, ...TASK_GROUPS];
type FamiliesByGroup = { readonly [G in LabelGroupName]: readonly FamilyOf<G>[] };
const FAMILIES = recordOf<FamiliesByGroup>(LABEL_GROUP_NAMES, (name) =>
  Object.keys(labelGroup(name).families),
);
const COUNTERS = recordOf<FamiliesByGroup>(LABEL_GROUP_NAMES, (name) =>
  FAMILIES[name].filter((family) => labelGroup(name).families[family]?.type === 'counter'),
);

export function familiesOf<G extends LabelGroupName>(name: G): readonly FamilyOf<G>[] {
  return FAMILIES[name];
}

export function countersOf<G extends LabelGroupName>(name: G): readonly FamilyOf<G>[] {
  return COUNTERS[name];
}

/** Labels that become `__other__` when a label set folds. */
const FOLDED_LABELS = [
  'client_version',
  'device_type',
  'vs_id',
  'video_codec',
  'audio_codec',
  'codec_id',
  'resolution',
  'tag',
];

/** Labels of which the exporter knows all values. */
const CLOSED_LABELS = ['protocol', 'codec_type', 'mode', 'direction', 'record', 'reason', 'field', 'item'];

export function foldedLabelIndexesOf(name: LabelGroupName): readonly number[] {
  const labels = Object.keys(labelGroup(name).labels);
  return [...labels.keys()].filter((labelIndex) => FOLDED_LABELS.includes(labels[labelIndex] ?? ''));
}

export function isClosed(name: LabelGroupName): boolean {
  return Object.keys(labelGroup(name).labels).every((label) => CLOSED_LABELS.includes(label));
}
