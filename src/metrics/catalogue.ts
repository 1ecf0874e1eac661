import type { FamilySpec } from './family.ts';

const HLS_NOTE = 'HLS (m3u8) is not metered by the service and is always 0.';
const LAST = 'in the last listing';

/**
 * Every metric family of the exporter, once, as data. The exposition, the reference documentation and the
 * tests that hold rules and dashboards to existing names all read it from here.
 *
 * The order is the order of the exposition.
 */
export const CATALOGUE = {
  // From the last good listing.
  up: {
    name: 'xvs_up',
    type: 'gauge',
    help: 'Whether the last poll succeeded: HTTP 2xx, a whole and valid listing, ret = 0.',
    labels: ['service_code'],
  },
  ret: {
    name: 'xvs_ret',
    type: 'gauge',
    help: 'The last answer\'s "ret" (0 is success); absent where the last answer had none.',
    labels: ['service_code'],
  },
  onlineUsers: {
    name: 'xvs_online_users',
    type: 'gauge',
    help: `Entries of "user_list" by "client_version" and "device_type", ${LAST}.`,
    labels: ['service_code', 'client_version', 'device_type'],
  },
  serverOnlineUsers: {
    name: 'xvs_server_online_users',
    type: 'gauge',
    help: `Entries of "user_list" by "vs_id", ${LAST}.`,
    labels: ['service_code', 'vs_id'],
  },
  servers: {
    name: 'xvs_servers',
    type: 'gauge',
    help: `Distinct "vs_id" of users and tasks, ${LAST}.`,
    labels: ['service_code'],
  },
  tasks: {
    name: 'xvs_tasks',
    type: 'gauge',
    help: `Entries of "task_list", ${LAST}.`,
    labels: ['service_code', 'vs_id'],
  },
  tasksWithProgress: {
    name: 'xvs_tasks_with_progress',
    type: 'gauge',
    help: `Tasks with "progress" > 0 (0 is a live task, or a file task at its start), ${LAST}.`,
    labels: ['service_code', 'vs_id'],
  },
  tasksMerging: {
    name: 'xvs_tasks_merging',
    type: 'gauge',
    help: `Tasks with more than one entry in "inputs", ${LAST}.`,
    labels: ['service_code', 'vs_id'],
  },
  tasksStalled: {
    name: 'xvs_tasks_stalled',
    type: 'gauge',
    help: `Live tasks whose "input_bytes" flowed once and has stood still for poll.stall_after, ${LAST}.`,
    labels: ['service_code', 'vs_id'],
  },
  inputs: {
    name: 'xvs_inputs',
    type: 'gauge',
    help: `Entries of "inputs" by the scheme of "url" (tcp_upload where it is empty), ${LAST}.`,
    labels: ['service_code', 'vs_id', 'protocol'],
  },
  inputClients: {
    name: 'xvs_input_clients',
    type: 'gauge',
    help: `Entries of "inputs" by "device_type" and "device_version" (or "client_version"), ${LAST}.`,
    labels: ['service_code', 'device_type', 'client_version'],
  },
  outputs: {
    name: 'xvs_outputs',
    type: 'gauge',
    help: `Entries of "outputs" by "format", ${LAST}.`,
    labels: ['service_code', 'vs_id', 'format'],
  },
  outputRenditions: {
    name: 'xvs_output_renditions',
    type: 'gauge',
    help: `Outputs by "video_codec_name", "audio_codec_name" and "width"x"height", ${LAST}.`,
    labels: ['service_code', 'video_codec', 'audio_codec', 'resolution'],
  },
  outputTags: {
    name: 'xvs_output_tags',
    type: 'gauge',
    help: `Outputs by "tag", the label of the output-format configuration, ${LAST}.`,
    labels: ['service_code', 'tag'],
  },
  httpConnections: {
    name: 'xvs_http_connections',
    type: 'gauge',
    help: `Sum of "http_connections_num" of outputs, ${LAST}. ${HLS_NOTE}`,
    labels: ['service_code', 'vs_id', 'format'],
  },
  outputsUnwatched: {
    name: 'xvs_outputs_unwatched',
    type: 'gauge',
    help: `Outputs of a metered format (any but m3u8) with "http_connections_num" = 0, ${LAST}.`,
    labels: ['service_code', 'vs_id', 'format'],
  },
  streams: {
    name: 'xvs_streams',
    type: 'gauge',
    help: `Entries of "streams" by "codec_type" (video, audio) and mode ("copy" = 1: copy; 0 or 2: transcode), ${LAST}.`,
    labels: ['service_code', 'codec_type', 'mode'],
  },
  streamBitRate: {
    name: 'xvs_stream_bit_rate',
    type: 'gauge',
    help: `Sum of "bit_rate" of streams as reported; the service does not document its unit, ${LAST}.`,
    labels: ['service_code', 'codec_type', 'mode'],
  },
  serverLastSeen: {
    name: 'xvs_server_last_seen_timestamp_seconds',
    type: 'gauge',
    unit: 'seconds',
    help: 'When a "vs_id" was last in a good listing; kept for one hour after it left.',
    labels: ['service_code', 'vs_id'],
  },

  // Accumulated between listings.
  inputBytes: {
    name: 'xvs_input_bytes_total',
    type: 'counter',
    unit: 'bytes',
    help: 'Bytes received by tasks since the exporter, or its state file, began ("input_bytes").',
    labels: ['service_code', 'vs_id'],
  },
  httpOutputBytes: {
    name: 'xvs_http_output_bytes_total',
    type: 'counter',
    unit: 'bytes',
    help: `Bytes delivered by HTTP live output since the exporter, or its state file, began ("http_output_bytes"). ${HLS_NOTE}`,
    labels: ['service_code', 'vs_id', 'format'],
  },
  tasksStarted: {
    name: 'xvs_tasks_started_total',
    type: 'counter',
    help: 'Tasks that appeared between successive good listings.',
    labels: ['service_code', 'vs_id'],
  },
  tasksEnded: {
    name: 'xvs_tasks_ended_total',
    type: 'counter',
    help: 'Tasks that vanished between successive good listings.',
    labels: ['service_code', 'vs_id'],
  },
  taskStalls: {
    name: 'xvs_task_stalls_total',
    type: 'counter',
    help: 'Times a live task became stalled (see xvs_tasks_stalled).',
    labels: ['service_code', 'vs_id'],
  },
  byteCounterResets: {
    name: 'xvs_byte_count_resets_total',
    type: 'counter',
    help: 'Times a byte counter of the service went backwards, by direction (input, http_output).',
    labels: ['service_code', 'direction'],
  },
  taskLifetime: {
    name: 'xvs_task_lifetime_seconds',
    type: 'histogram',
    unit: 'seconds',
    help: 'Time from first seen to last seen of tasks that ended.',
    labels: ['service_code'],
    buckets: [15, 60, 300, 900, 3600, 10800, 21600, 43200, 86400],
  },

  // Per task: switched on by metrics.per_task.
  taskInfo: {
    name: 'xvs_task_info',
    type: 'info',
    help: `A task: its server, the formats of its outputs, whether it merges inputs, ${LAST}.`,
    labels: ['service_code', 'task_id', 'vs_id', 'formats', 'merging'],
  },
  taskInputBytes: {
    name: 'xvs_task_input_bytes_total',
    type: 'counter',
    unit: 'bytes',
    help: 'Bytes received by a task since the exporter first saw it ("input_bytes").',
    labels: ['service_code', 'task_id'],
  },
  taskHttpOutputBytes: {
    name: 'xvs_task_http_output_bytes_total',
    type: 'counter',
    unit: 'bytes',
    help: `Bytes delivered by HTTP live output of a task since the exporter first saw it ("http_output_bytes"). ${HLS_NOTE}`,
    labels: ['service_code', 'task_id', 'format'],
  },
  taskHttpConnections: {
    name: 'xvs_task_http_connections',
    type: 'gauge',
    help: `Sum of "http_connections_num" of a task's outputs, ${LAST}. ${HLS_NOTE}`,
    labels: ['service_code', 'task_id', 'format'],
  },
  taskStalled: {
    name: 'xvs_task_stalled',
    type: 'gauge',
    help: `1 if a task is stalled (see xvs_tasks_stalled), ${LAST}.`,
    labels: ['service_code', 'task_id'],
  },
  taskProgress: {
    name: 'xvs_task_progress',
    type: 'gauge',
    help: `"progress" of a task as reported; always 0 for live tasks, ${LAST}.`,
    labels: ['service_code', 'task_id'],
  },
  taskFirstSeen: {
    name: 'xvs_task_first_seen_timestamp_seconds',
    type: 'gauge',
    unit: 'seconds',
    help: 'When the exporter first saw a task.',
    labels: ['service_code', 'task_id'],
  },

  // The exporter about itself.
  polls: {
    name: 'xvs_exporter_polls_total',
    type: 'counter',
    help: 'Polls attempted.',
    labels: ['service_code'],
  },
  pollErrors: {
    name: 'xvs_exporter_poll_errors_total',
    type: 'counter',
    help: 'Polls that failed, by reason.',
    labels: ['service_code', 'reason'],
  },
  pollsSkipped: {
    name: 'xvs_exporter_polls_skipped_total',
    type: 'counter',
    help: 'Polls that were due and left out: overlap (the one before still ran), retry_after (the service asked for a pause).',
    labels: ['service_code', 'reason'],
  },
  pollDuration: {
    name: 'xvs_exporter_poll_duration_seconds',
    type: 'histogram',
    unit: 'seconds',
    help: 'Time from the request sent to the listing committed, or to the failure.',
    labels: ['service_code'],
    buckets: [0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2, 5, 10, 30],
  },
  lastPoll: {
    name: 'xvs_exporter_last_poll_timestamp_seconds',
    type: 'gauge',
    unit: 'seconds',
    help: 'When the last poll ended.',
    labels: ['service_code'],
  },
  lastSuccess: {
    name: 'xvs_exporter_last_success_timestamp_seconds',
    type: 'gauge',
    unit: 'seconds',
    help: 'When the last poll that succeeded ended.',
    labels: ['service_code'],
  },
  pollInterval: {
    name: 'xvs_exporter_poll_interval_seconds',
    type: 'gauge',
    unit: 'seconds',
    help: 'The poll interval that is set.',
    labels: ['service_code'],
  },
  responseBytes: {
    name: 'xvs_exporter_response_bytes',
    type: 'gauge',
    unit: 'bytes',
    help: 'Size of the last body, decompressed.',
    labels: ['service_code'],
  },
  invalidRecords: {
    name: 'xvs_exporter_invalid_records_total',
    type: 'counter',
    help: 'Entries left out of good listings because they break the interface, by record and reason.',
    labels: ['service_code', 'record', 'reason'],
  },
  foldedLabelSets: {
    name: 'xvs_exporter_folded_label_sets',
    type: 'gauge',
    help: `Label sets folded into __other__ (or, per task, left out), by family, ${LAST}.`,
    labels: ['service_code', 'family'],
  },
  series: {
    name: 'xvs_exporter_series',
    type: 'gauge',
    help: 'Series that a scrape of everything would have.',
    labels: [],
  },
  serviceCodes: {
    name: 'xvs_exporter_service_codes',
    type: 'gauge',
    help: 'Service codes that this process polls.',
    labels: [],
  },
  shards: {
    name: 'xvs_exporter_shards',
    type: 'gauge',
    help: 'Processes that share the service codes, as far as this one knows (shard.count).',
    labels: [],
  },
  shardIndex: {
    name: 'xvs_exporter_shard',
    type: 'gauge',
    help: 'Which of them this is, from 0 on (shard.index, or by the host name).',
    labels: [],
  },
  buildInfo: {
    name: 'xvs_exporter_build_info',
    type: 'info',
    help: 'The version of the exporter, its revision and the Node.js that it runs on.',
    labels: ['version', 'revision', 'node_version'],
  },
  configLastReloadSuccessful: {
    name: 'xvs_exporter_config_last_reload_successful',
    type: 'gauge',
    help: 'Whether the last attempt to load the configuration succeeded.',
    labels: [],
  },
  configLastReloadSuccess: {
    name: 'xvs_exporter_config_last_reload_success_timestamp_seconds',
    type: 'gauge',
    unit: 'seconds',
    help: 'When the configuration was last loaded with success.',
    labels: [],
  },
  stateWriteErrors: {
    name: 'xvs_exporter_state_write_errors_total',
    type: 'counter',
    help: 'Times the state file could not be written; only with state.file.',
    labels: [],
  },
  stateLastSuccess: {
    name: 'xvs_exporter_state_last_success_timestamp_seconds',
    type: 'gauge',
    unit: 'seconds',
    help: 'When the state file was last written; only with state.file, once it has been.',
    labels: [],
  },
  stateSize: {
    name: 'xvs_exporter_state_size_bytes',
    type: 'gauge',
    unit: 'bytes',
    help: 'Size of the state file; only with state.file, once it has been written.',
    labels: [],
  },
} as const satisfies Record<string, FamilySpec>;
