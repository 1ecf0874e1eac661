import { define } from '../families/family.ts';
import { POLL_FAMILIES, STATE_FAMILIES } from '../poller/catalogue.ts';

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
    help: 'Accounts of tasks, inputs and outputs of all service codes, by state: live, or departed and kept for at most six hours.',
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
  stateOpen: {
    name: 'xvs_exporter_state_open',
    help: 'Whether the process keeps a state: 0 if the default folder could not be used at the start. Absent without a folder.',
  },
  stateWriteErrors: {
    name: 'xvs_exporter_state_write_errors_total',
    help: 'Failed writes of the state; only with state.',
  },
  stateDelayedPublications: {
    name: 'xvs_exporter_state_delayed_publications_total',
    help: 'Good listings that were published before they were written, which a kill can lose; only with state.',
  },
  stateLastSuccess: {
    name: 'xvs_exporter_state_last_success_timestamp_seconds',
    help: 'When the state was last written; only with state, after the first write.',
  },
  clientCertificateNotAfter: {
    name: 'xvs_exporter_client_certificate_not_after_timestamp_seconds',
    help: 'When the first certificate of upstream.cert_file, which the exporter presents to the service, expires; only with that setting.',
  },
  pollDuration: {
    name: 'xvs_exporter_poll_duration_seconds',
    help: 'Duration of polls of all service codes, from their start, before a lookup of the host name, to committing the listing or failing.',
    buckets: [0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2, 5, 10, 30],
  },
  time: {
    name: 'xvs_exporter_time_seconds',
    help: "The exporter's clock, at most a second before the scrape. Ages are differences of two of its timestamps.",
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
    help: 'When the first certificate that the web server sends expires; only with TLS.',
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

export const METRIC_LABELS: ReadonlySet<string> = new Set(
  Object.values(CATALOGUE).flatMap(({ labels }) => labels),
);
