import { define, LISTING_COUNTERS, LISTING_GAUGES, SINGLE_TASK_FAMILIES } from '../listing/catalogue.ts';
import { IN_LAST_LISTING } from '../listing/label-group.ts';

/* Each set of families has a record of its samples beside the state that they show. */

const LAST_POLL = define(['service_code'], {
  up: {
    name: 'xvs_up',
    help: 'Whether the last poll succeeded: HTTP 2xx, a complete and valid listing, "ret" = 0.',
  },
  ret: {
    name: 'xvs_ret',
    help: '"ret" of the last response (0 is success); absent if the response had none.',
  },
});

/** What `expect` of a service code says. */
const EXPECTATIONS = define(['service_code'], {
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
  expectedTaskByteCountsWaiting: {
    name: 'xvs_expected_task_byte_counts_waiting',
    help: `Byte counts of the tasks of an expected name that wait for three listings to confirm them, ${IN_LAST_LISTING}; appears with the first one.`,
    labels: ['task_name'],
  },
  expectedTaskMinInputRate: {
    name: 'xvs_expected_task_min_input_bytes_per_second',
    help: 'The "min_input_rate" of an expected name, in bytes; absent where it is not set.',
    labels: ['task_name'],
  },
  expectedTaskMinOutputs: {
    name: 'xvs_expected_task_min_outputs',
    help: 'The "outputs" of an expected name; absent where it is not set.',
    labels: ['task_name'],
  },
});

/** Families of the last good listing of a service code, and of its counters. */
export const STATE_FAMILIES = {
  ...LAST_POLL,
  ...LISTING_GAUGES,
  ...EXPECTATIONS,
  ...LISTING_COUNTERS,
  ...SINGLE_TASK_FAMILIES,
};

/** Families of the polls of a service code. */
export const POLL_FAMILIES = define(['service_code'], {
  polls: {
    name: 'xvs_exporter_polls_total',
    help: 'Polls that ended, successful or not; not those that a reload or a shutdown aborted.',
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
});

/** Families of the process, without those of the web server. */
export const PROCESS_FAMILIES = define([], {
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
  pollDuration: {
    name: 'xvs_exporter_poll_duration_seconds',
    help: 'Duration of polls of all service codes, from sending the request to committing the listing or failing.',
    buckets: [0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2, 5, 10, 30],
  },
  time: {
    name: 'xvs_exporter_time_seconds',
    help: "The exporter's clock at the scrape. Ages are differences of two of its timestamps.",
  },
});

/** The one that counts all others. */
export const SERIES_FAMILIES = define([], {
  series: {
    name: 'xvs_exporter_series',
    help: 'Series in a scrape without filters.',
  },
});

export const WEB_FAMILIES = define([], {
  webConnections: {
    name: 'xvs_exporter_web_connections',
    help: 'Open connections to the web server.',
  },
  webConnectionsClosed: {
    name: 'xvs_exporter_web_connections_closed_total',
    help: 'Connections closed because of a limit, by reason: max_connections (idle, of the client with the most), key_updates (of TLS, without requests), pipelining, slow_client.',
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

/** All metric families. */
export const CATALOGUE = {
  ...STATE_FAMILIES,
  ...POLL_FAMILIES,
  ...PROCESS_FAMILIES,
  ...SERIES_FAMILIES,
  ...WEB_FAMILIES,
};
