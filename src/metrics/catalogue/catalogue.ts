import { IN_LAST_LISTING } from '../../listing/label-group.ts';
import {
  labelGroup,
  LABEL_GROUP_NAMES,
  type FamilyOf,
  type TableCounterKey,
  type TableFamilyKey,
  type TableGaugeKey,
  type TaskGroupName,
} from '../../listing/label-groups.ts';
import type { FamilySpec, FamilyType } from './family.ts';

/** A family: its name tells the type, as OpenMetrics demands of counters and infos. */
type Definition = Pick<FamilySpec, 'name' | 'help' | 'buckets'> & Partial<Pick<FamilySpec, 'labels'>>;

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

function listTable(of: 'gauge'): Readonly<Record<TableGaugeKey, Definition>>;
function listTable(of: 'counter'): Readonly<Record<TableCounterKey, Definition>>;
function listTable(of: 'tasks'): Readonly<Record<FamilyOf<TaskGroupName>, Definition>>;
function listTable(of: 'gauge' | 'counter' | 'tasks'): Readonly<Partial<Record<TableFamilyKey, Definition>>> {
  const groups = LABEL_GROUP_NAMES.map((name) => labelGroup(name));
  return Object.fromEntries(
    groups
      .filter((group) => (group.of === 'single_task') === (of === 'tasks'))
      .flatMap(({ labels, families }) =>
        Object.entries(families)
          .filter(([, { type }]) => of === 'tasks' || type === of)
          .map(([key, { name, help }]) => [key, { name, help, labels: Object.keys(labels) }] as const),
      ),
  );
}

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
  ...listTable('gauge'),

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

  // Accumulated between listings.
  ...listTable('counter'),
  taskLifetime: {
    name: 'xvs_task_lifetime_seconds',
    help: 'Time between the first and the last good listing with a task that has ended and never read a file.',
    buckets: [15, 60, 300, 900, 3600, 10800, 21600, 43200, 86400],
  },

  // Per task, if metrics.per_task is on.
  ...listTable('tasks'),

  // Exporter.
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

/** All metric families, in the order of the exposition. */
export const CATALOGUE = { ...CODE_FAMILIES, ...PROCESS_FAMILIES };
