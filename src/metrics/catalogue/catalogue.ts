import type { FamilySpec, FamilyType } from './family.ts';

/** Part of the help of several families, which the reference states once. */
export const HLS_NOTE = 'HLS (m3u8) is not metered by the service and is always 0.';
/** As {@link HLS_NOTE}. */
export const IN_LAST_LISTING = 'in the last listing';

/** A family: its name tells the type, as OpenMetrics demands of counters and infos. */
type Definition = Pick<FamilySpec, 'name' | 'help' | 'buckets'> & Partial<Pick<FamilySpec, 'labels'>>;

/** Completes definitions of families, whose labels come after `firstLabels`. */
function define<const Definitions extends Readonly<Record<string, Definition>>>(
  firstLabels: readonly string[],
  definitions: Definitions,
): { readonly [Key in keyof Definitions]: Omit<Definitions[Key], 'labels'> & FamilySpec };
function define(firstLabels: readonly string[], definitions: Readonly<Record<string, Definition>>) {
  return Object.fromEntries(
    Object.entries(definitions).map(([key, { labels = [], ...family }]) => [
      key,
      { ...family, type: toType(family), labels: [...firstLabels, ...labels] },
    ]),
  );
}

function toType({ name, buckets }: Definition): FamilyType {
  if (name.endsWith('_total')) return 'counter';
  if (name.endsWith('_info')) return 'info';
  return buckets === undefined ? 'gauge' : 'histogram';
}

/** Families of service codes, each with the label `service_code`. */
const CODE_FAMILIES = define(['service_code'], {
  // From the last good listing.
  up: {
    name: 'xvs_up',
    help: 'Whether the last poll succeeded: HTTP 2xx, a complete and valid listing, "ret" = 0.',
  },
  ret: {
    name: 'xvs_ret',
    help: '"ret" of the last response (0 is success); absent if the response had none.',
  },
  listingUsers: {
    name: 'xvs_listing_users',
    help: `Entries of "user_list", ${IN_LAST_LISTING}; 0 if it is empty.`,
  },
  listingTasks: {
    name: 'xvs_listing_tasks',
    help: `Entries of "task_list", ${IN_LAST_LISTING}; 0 if it is empty.`,
  },
  onlineUsers: {
    name: 'xvs_online_users',
    help: `Entries of "user_list" by "client_version" and "device_type", ${IN_LAST_LISTING}.`,
    labels: ['client_version', 'device_type'],
  },
  serverOnlineUsers: {
    name: 'xvs_server_online_users',
    help: `Entries of "user_list" by "vs_id", ${IN_LAST_LISTING}.`,
    labels: ['vs_id'],
  },
  servers: {
    name: 'xvs_servers',
    help: `Distinct "vs_id" of users and tasks, ${IN_LAST_LISTING}.`,
  },
  tasks: {
    name: 'xvs_tasks',
    help: `Entries of "task_list", ${IN_LAST_LISTING}.`,
    labels: ['vs_id'],
  },
  tasksWithProgress: {
    name: 'xvs_tasks_with_progress',
    help: `Tasks with "progress" > 0 (live tasks, and file tasks that have just started, have 0), ${IN_LAST_LISTING}.`,
    labels: ['vs_id'],
  },
  tasksMerging: {
    name: 'xvs_tasks_merging',
    help: `Tasks with more than one entry in "inputs", ${IN_LAST_LISTING}.`,
    labels: ['vs_id'],
  },
  tasksStalled: {
    name: 'xvs_tasks_stalled',
    help: `Live tasks whose "input_bytes" grew at first but has not grown for poll.stall_after, ${IN_LAST_LISTING}.`,
    labels: ['vs_id'],
  },
  tasksWithoutInput: {
    name: 'xvs_tasks_without_input',
    help: `Live tasks first seen longer ago than poll.stall_after whose "input_bytes" has always been 0, ${IN_LAST_LISTING}.`,
    labels: ['vs_id'],
  },
  fileTasksStalled: {
    name: 'xvs_file_tasks_stalled',
    help: `Tasks with "progress" > 0 that has been unchanged for poll.stall_after, ${IN_LAST_LISTING}.`,
    labels: ['vs_id'],
  },
  tasksByHttpConnections: {
    name: 'xvs_tasks_by_http_connections',
    help: `Tasks whose outputs have at least "at_least" HTTP connections in total, ${IN_LAST_LISTING}.`,
    labels: ['at_least'],
  },
  inputs: {
    name: 'xvs_inputs',
    help: `Entries of "inputs" by the scheme of "url" (tcp_upload if it is empty), ${IN_LAST_LISTING}.`,
    labels: ['vs_id', 'protocol'],
  },
  inputClients: {
    name: 'xvs_input_clients',
    help: `Entries of "inputs" by "device_type" and "device_version" (or "client_version"), ${IN_LAST_LISTING}.`,
    labels: ['device_type', 'client_version'],
  },
  outputs: {
    name: 'xvs_outputs',
    help: `Entries of "outputs" by "format", ${IN_LAST_LISTING}.`,
    labels: ['vs_id', 'format'],
  },
  outputRenditions: {
    name: 'xvs_output_renditions',
    help: `Outputs by "video_codec_name", "audio_codec_name" and "width"x"height", ${IN_LAST_LISTING}.`,
    labels: ['video_codec', 'audio_codec', 'resolution'],
  },
  outputTags: {
    name: 'xvs_output_tags',
    help: `Outputs by "tag", the label of the output-format configuration, ${IN_LAST_LISTING}.`,
    labels: ['tag'],
  },
  httpConnections: {
    name: 'xvs_http_connections',
    help: `Sum of "http_connections_num" of outputs, ${IN_LAST_LISTING}. ${HLS_NOTE}`,
    labels: ['vs_id', 'format'],
  },
  renditionHttpConnections: {
    name: 'xvs_rendition_http_connections',
    help: `Sum of "http_connections_num" of outputs by rendition, ${IN_LAST_LISTING}. ${HLS_NOTE}`,
    labels: ['video_codec', 'audio_codec', 'resolution'],
  },
  outputsUnwatched: {
    name: 'xvs_outputs_unwatched',
    help: `Outputs with "http_connections_num" = 0, of formats of which some output has had a connection since the start, ${IN_LAST_LISTING}.`,
    labels: ['vs_id', 'format'],
  },
  streams: {
    name: 'xvs_streams',
    help: `Entries of "streams" by "codec_type" (video, audio) and mode ("copy" = 1: copy; 0 or 2: transcode), ${IN_LAST_LISTING}.`,
    labels: ['vs_id', 'codec_type', 'mode'],
  },
  transcodedPixels: {
    name: 'xvs_transcoded_pixels',
    help: `Sum of "width" × "height" of video streams that are not copied ("copy" other than 1), pixels of one frame, ${IN_LAST_LISTING}.`,
    labels: ['vs_id'],
  },
  streamCodecs: {
    name: 'xvs_stream_codecs',
    help: `Entries of "streams" by "codec_type" (video, audio) and "codec_id", ${IN_LAST_LISTING}.`,
    labels: ['codec_type', 'codec_id'],
  },
  streamBitRate: {
    name: 'xvs_stream_bit_rate',
    help: `Sum of "bit_rate" of streams as reported; the service does not document its unit, ${IN_LAST_LISTING}.`,
    labels: ['codec_type', 'mode'],
  },
  serverLastSeen: {
    name: 'xvs_server_last_seen_timestamp_seconds',
    help: 'When a "vs_id" was last in a good listing; kept for one hour after it disappeared.',
    labels: ['vs_id'],
  },
  oldestTaskFirstSeen: {
    name: 'xvs_oldest_task_first_seen_timestamp_seconds',
    help: `When the exporter first saw the oldest task of a "vs_id", ${IN_LAST_LISTING}.`,
    labels: ['vs_id'],
  },

  // What `expect` of a service code says.
  expectedTasks: {
    name: 'xvs_expected_tasks',
    help: 'Live tasks that must run: the larger of expect.tasks and the number of expect.names.',
  },
  expectedTaskUp: {
    name: 'xvs_expected_task_up',
    help: 'Whether a live task with an expected name is listed, has received input (or reports none) and is not stalled; 0 without a recent listing.',
    labels: ['task_name'],
  },
  expectedTaskOutputs: {
    name: 'xvs_expected_task_outputs',
    help: `Entries of "outputs" of the task with an expected name, ${IN_LAST_LISTING}; the largest number if several have it; absent if none is listed.`,
    labels: ['task_name'],
  },

  // Accumulated between listings.
  inputBytes: {
    name: 'xvs_input_bytes_total',
    help: 'Bytes received by tasks since the exporter started or its state was created ("input_bytes").',
    labels: ['vs_id'],
  },
  protocolInputBytes: {
    name: 'xvs_protocol_input_bytes_total',
    help: 'Bytes received by tasks with exactly one input, by the scheme of its "url" (tcp_upload where it is empty).',
    labels: ['protocol'],
  },
  httpOutputBytes: {
    name: 'xvs_http_output_bytes_total',
    help: `Bytes delivered by HTTP live output since the exporter started or its state was created ("http_output_bytes"). ${HLS_NOTE}`,
    labels: ['vs_id', 'format'],
  },
  renditionHttpOutputBytes: {
    name: 'xvs_rendition_http_output_bytes_total',
    help: `Bytes delivered by HTTP live output by rendition ("http_output_bytes"). ${HLS_NOTE}`,
    labels: ['video_codec', 'audio_codec', 'resolution'],
  },
  tasksStarted: {
    name: 'xvs_tasks_started_total',
    help: 'Tasks that appeared between successive good listings.',
    labels: ['vs_id'],
  },
  tasksEnded: {
    name: 'xvs_tasks_ended_total',
    help: 'Tasks that disappeared between successive good listings.',
    labels: ['vs_id'],
  },
  taskStalls: {
    name: 'xvs_task_stalls_total',
    help: 'Times a live task became stalled (see xvs_tasks_stalled).',
    labels: ['vs_id'],
  },
  byteCountResets: {
    name: 'xvs_byte_count_resets_total',
    help: 'Byte counts of the service that began again, confirmed by three listings, by direction (input, http_output).',
    labels: ['direction'],
  },
  byteCountImplausible: {
    name: 'xvs_byte_count_implausible_total',
    help: 'Byte counts in listings that wait for three listings to confirm them, or with which a new task cannot have begun, by direction (input, http_output).',
    labels: ['direction'],
  },
  taskLifetime: {
    name: 'xvs_task_lifetime_seconds',
    help: 'Time between the first and the last good listing with a task that has ended and never read a file.',
    buckets: [15, 60, 300, 900, 3600, 10800, 21600, 43200, 86400],
  },

  // Per task, if metrics.per_task is on.
  taskInfo: {
    name: 'xvs_task_info',
    help: `Server, output formats and merging of inputs of a task, and its name with tasks.name, ${IN_LAST_LISTING}.`,
    labels: ['task_id', 'vs_id', 'formats', 'merging', 'task_name'],
  },
  taskInputBytes: {
    name: 'xvs_task_input_bytes_total',
    help: 'Bytes received by a task since the exporter first saw it ("input_bytes").',
    labels: ['task_id'],
  },
  taskHttpOutputBytes: {
    name: 'xvs_task_http_output_bytes_total',
    help: `Bytes delivered by HTTP live output of a task since the exporter first saw it ("http_output_bytes"). ${HLS_NOTE}`,
    labels: ['task_id', 'format'],
  },
  taskHttpConnections: {
    name: 'xvs_task_http_connections',
    help: `Sum of "http_connections_num" of a task's outputs, ${IN_LAST_LISTING}. ${HLS_NOTE}`,
    labels: ['task_id', 'format'],
  },
  taskStalled: {
    name: 'xvs_task_stalled',
    help: `1 if a task is stalled (see xvs_tasks_stalled), ${IN_LAST_LISTING}.`,
    labels: ['task_id'],
  },
  taskProgress: {
    name: 'xvs_task_progress',
    help: `"progress" of a task as reported; always 0 for live tasks, ${IN_LAST_LISTING}.`,
    labels: ['task_id'],
  },
  taskFirstSeen: {
    name: 'xvs_task_first_seen_timestamp_seconds',
    help: 'When the exporter first saw a task.',
    labels: ['task_id'],
  },

  // Exporter.
  polls: {
    name: 'xvs_exporter_polls_total',
    help: 'Polls attempted.',
  },
  pollErrors: {
    name: 'xvs_exporter_poll_errors_total',
    help: 'Polls that failed, by reason.',
    labels: ['reason'],
  },
  pollsSkipped: {
    name: 'xvs_exporter_polls_skipped_total',
    help: 'Polls skipped, by reason: overlap (the previous poll was still running), retry_after (the service asked for a pause).',
    labels: ['reason'],
  },
  pollsAborted: {
    name: 'xvs_exporter_polls_aborted_total',
    help: 'Polls aborted by a reload or a shutdown. Every poll that ended succeeded, failed or was aborted.',
  },
  lastPollDuration: {
    name: 'xvs_exporter_last_poll_duration_seconds',
    help: 'Duration of the last poll, from sending the request to committing the listing or failing.',
  },
  lastPoll: {
    name: 'xvs_exporter_last_poll_timestamp_seconds',
    help: 'When the last poll ended.',
  },
  lastSuccess: {
    name: 'xvs_exporter_last_success_timestamp_seconds',
    help: 'When the last successful poll ended.',
  },
  pollInterval: {
    name: 'xvs_exporter_poll_interval_seconds',
    help: 'Configured poll interval.',
  },
  responseBytes: {
    name: 'xvs_exporter_response_bytes',
    help: 'Size of the last response body, decompressed.',
  },
  receivedBytes: {
    name: 'xvs_exporter_received_bytes_total',
    help: 'Bytes of response bodies as received, before decompression.',
  },
  httpStatus: {
    name: 'xvs_exporter_http_status',
    help: 'HTTP status of the last response; absent if the last poll got none.',
  },
  clockOffset: {
    name: 'xvs_exporter_clock_offset_seconds',
    help: 'How far the clock of the exporter is ahead of the "Date" of the last response, negative if behind; 0 if the duration of the request and the whole seconds of the header explain the difference; absent without the header.',
  },
  upstreamCertificateNotAfter: {
    name: 'xvs_exporter_upstream_certificate_not_after_timestamp_seconds',
    help: 'When the first certificate of the chain of the service expires, as of the last response; absent without TLS.',
  },
  invalidRecords: {
    name: 'xvs_exporter_invalid_records_total',
    help: 'Records rejected from good listings because they cannot be identified, by record and reason.',
    labels: ['record', 'reason'],
  },
  invalidFields: {
    name: 'xvs_exporter_invalid_fields_total',
    help: 'Fields of good listings that count as missing because of a wrong type or range, by record and field.',
    labels: ['record', 'field'],
  },
  foreignRecords: {
    name: 'xvs_exporter_foreign_records_total',
    help: 'Records of good listings whose service_code is not the polled one, by record.',
    labels: ['record'],
  },
  listingSurplus: {
    name: 'xvs_exporter_listing_surplus_total',
    help: 'Items of good listings beyond a limit, by item: of the listing, or of the accounts of all service codes (account: tasks without accounts).',
    labels: ['item'],
  },
  departedTasksEvicted: {
    name: 'xvs_exporter_departed_tasks_evicted_total',
    help: 'Accounts of departed tasks, and of departed inputs and outputs, forgotten early because the limit of the process is reached.',
  },
  foldedLabelSets: {
    name: 'xvs_exporter_folded_label_sets',
    help: `Label sets folded into __other__ (per-task families: omitted), by family, ${IN_LAST_LISTING}.`,
    labels: ['family'],
  },
});

const PROCESS_FAMILIES = define([], {
  series: {
    name: 'xvs_exporter_series',
    help: 'Series in a scrape without filters.',
  },
  serviceCodes: {
    name: 'xvs_exporter_service_codes',
    help: 'Service codes that this process polls.',
  },
  shards: {
    name: 'xvs_exporter_shards',
    help: 'Number of shards (shard.count).',
  },
  shardIndex: {
    name: 'xvs_exporter_shard',
    help: 'Index of this shard, from 0 (shard.index, or derived from the host name).',
  },
  buildInfo: {
    name: 'xvs_exporter_build_info',
    help: 'Version and revision of the exporter, and the version of Node.js.',
    labels: ['version', 'revision', 'node_version'],
  },
  pendingResponseBytes: {
    name: 'xvs_exporter_pending_response_bytes',
    help: 'Decompressed bytes of the response bodies that are being read, of all service codes.',
  },
  pendingResponseLimit: {
    name: 'xvs_exporter_pending_response_limit_bytes',
    help: 'Limit of xvs_exporter_pending_response_bytes; beyond it, the poll with the largest body fails.',
  },
  accounts: {
    name: 'xvs_exporter_accounts',
    help: 'Accounts of tasks, inputs and outputs of all service codes, by state: live, or departed and kept for six hours.',
    labels: ['state'],
  },
  accountsLimit: {
    name: 'xvs_exporter_accounts_limit',
    help: 'Limit of xvs_exporter_accounts, from the heap that V8 may use. Departed accounts give way; beyond it, tasks get no accounts.',
  },
  logLinesDropped: {
    name: 'xvs_exporter_log_lines_dropped_total',
    help: 'Log lines that could not be written: the disk was full, a limit was reached, or the reader of the pipe left or stalled.',
  },
  memoryLimit: {
    name: 'xvs_exporter_memory_limit_bytes',
    help: 'Memory that the container or the unit of the process may use; absent without a limit.',
  },
  configLastReloadSuccessful: {
    name: 'xvs_exporter_config_last_reload_successful',
    help: 'Whether the last attempt to load the configuration succeeded.',
  },
  configLastReloadSuccess: {
    name: 'xvs_exporter_config_last_reload_success_timestamp_seconds',
    help: 'When the configuration was last loaded successfully.',
  },
  codeFileValid: {
    name: 'xvs_exporter_code_file_valid',
    help: 'Whether a file of service_code_files was valid when it was last loaded; the codes of an invalid one stay as they were. Its path is as configured, with the name of the file in place of a pattern.',
    labels: ['file'],
  },
  stateWriteErrors: {
    name: 'xvs_exporter_state_write_errors_total',
    help: 'Failed writes of the state; only with state.path.',
  },
  stateDelayedPublications: {
    name: 'xvs_exporter_state_delayed_publications_total',
    help: 'Good listings that were published before they were written, which a kill can lose; only with state.path.',
  },
  stateLastSuccess: {
    name: 'xvs_exporter_state_last_success_timestamp_seconds',
    help: 'When the state was last written; only with state.path, after the first write.',
  },
  stateSize: {
    name: 'xvs_exporter_state_size_bytes',
    help: 'Size of the database of the state, measured once a minute; only with state.path, after the first write.',
  },
  pollDuration: {
    name: 'xvs_exporter_poll_duration_seconds',
    help: 'Duration of polls of all service codes, from sending the request to committing the listing or failing.',
    buckets: [0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2, 5, 10, 30],
  },
  time: {
    name: 'xvs_exporter_time_seconds',
    help: "The exporter's clock at the scrape. Ages are differences of two of its timestamps.",
  },
  webConnections: {
    name: 'xvs_exporter_web_connections',
    help: 'Open connections to the web server.',
  },
  webConnectionsClosed: {
    name: 'xvs_exporter_web_connections_closed_total',
    help: 'Connections closed because of a limit, by reason: max_connections (idle, of the client with the most), pipelining, slow_client.',
    labels: ['reason'],
  },
  webRequestsRejected: {
    name: 'xvs_exporter_web_requests_rejected_total',
    help: 'Requests rejected, by reason: unauthorized, client_certificate, password_queue, max_requests.',
    labels: ['reason'],
  },
  tlsCertificateNotAfter: {
    name: 'xvs_exporter_tls_certificate_not_after_timestamp_seconds',
    help: 'When the certificate of the web server expires; only with TLS.',
  },
});

/**
 * All metric families, in the order of the exposition. The exposition, `docs/metrics.md` and the tests of alerting rules
 * and dashboards read them from here.
 */
export const CATALOGUE = { ...CODE_FAMILIES, ...PROCESS_FAMILIES };
