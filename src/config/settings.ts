import type { z } from 'zod';
import { MAX_SHARDS } from '../sharding/shard.ts';
import { baseUrl, grafanaUrl, listenAddressList, telemetryPath } from './addresses.ts';
import {
  bitRate,
  boolean,
  choice,
  positiveInteger,
  duration,
  filePath,
  headerName,
  integerBetween,
  schemaMeta,
} from './schemas.ts';
import { secretText, signingTemplate, size, taskNameSource, type SchemaMeta } from './schemas.ts';
import { codeGlobList, serviceCodeList } from './service-codes/schema.ts';

/** One row of the table of settings. */
export interface Setting {
  /** One sentence for the reference and `--help`. */
  readonly doc: string;
  /** Parses a value of the file, or the text of a variable or flag. */
  readonly schema: z.ZodType & Parameters<typeof schemaMeta.get>[0];
  /** As an operator would write it. */
  readonly default?: string;
  /** The effect of leaving it out, without a plain default. */
  readonly defaultText?: string;
  /**
   * The source that cannot give the setting. What cannot be a flag is a secret: no output shows its value.
   */
  readonly excludedSource?: 'file' | 'flag';
}

/** Every setting by its key in the file. Variables, flags, `--help` and the reference derive from it. */
export const SETTINGS = {
  'upstream.base_url': {
    doc: 'URL of the service, without the path of `task_list`.',
    schema: baseUrl,
    defaultText: 'required, unless every service code has its own',
  },
  'upstream.timeout': {
    doc: 'Deadline of a whole poll, from the resolution of the name to the end of the response. The request is signed at its start, and a service may reject signatures that are as old when they arrive.',
    schema: duration(1),
    default: '10s',
  },
  'upstream.max_response_size': {
    doc: 'Largest response body to read, after decompression.',
    schema: size,
    default: '1GiB',
  },
  'upstream.max_connections': {
    doc: 'Maximum number of concurrent connections to one host and port.',
    schema: positiveInteger,
    default: '64',
  },
  'upstream.ca_file': {
    doc: 'CA certificates (PEM) to trust instead of those bundled with Node.js.',
    schema: filePath,
  },
  'upstream.cert_file': {
    doc: 'Client certificate (PEM); requires `upstream.key_file`. One that is expired, not yet valid or not for clients is a warning.',
    schema: filePath,
  },
  'upstream.key_file': { doc: 'Private key of the client certificate (PEM).', schema: filePath },
  'signing.algorithm': {
    doc: 'Hash function of the HMAC.',
    schema: choice('sha256', 'sha1', 'sha384', 'sha512', 'md5'),
    default: 'sha256',
  },
  'signing.template': {
    doc: 'String to sign, made of the path, the query before percent-encoding, and the timestamp.',
    schema: signingTemplate,
    default: '{path}{query}{timestamp}',
  },
  'signing.encoding': {
    doc: 'Encoding of the signature.',
    schema: choice('hex', 'base64', 'base64url'),
    default: 'hex',
  },
  'signing.timestamp_unit': {
    doc: 'Unit of the timestamp, counted from the Unix epoch.',
    schema: choice('ms', 's'),
    default: 'ms',
  },
  'signing.signature_header': {
    doc: 'Header that carries the signature.',
    schema: headerName,
    default: 'xvs-signature',
  },
  'signing.timestamp_header': {
    doc: 'Header that carries the timestamp.',
    schema: headerName,
    default: 'xvs-timestamp',
  },
  service_codes: {
    doc: 'Service codes to poll. In the file, a list of codes or of mappings with settings of a code.',
    schema: serviceCodeList,
    defaultText: 'required without `service_code_files`',
  },
  service_code_files: {
    doc: 'Files with lists of service codes (.yml, .yaml, .json); one `*` matches any part of a file name. The exporter watches them, as with `config.auto_reload`; see docs/service-codes.md.',
    schema: codeGlobList,
  },
  secret: {
    doc: 'Shared secret of every service code without its own. There is no flag, because command lines are visible to every user.',
    schema: secretText,
    excludedSource: 'flag',
  },
  secret_file: {
    doc: 'File that contains that secret; a trailing newline is ignored.',
    schema: filePath,
  },
  'poll.interval': {
    doc: 'Time between two polls of a service code.',
    schema: duration(1000),
    default: '15s',
  },
  'poll.stale_after': {
    doc: 'Gauges of the last listing, and the counters of single tasks, disappear after this time without a successful poll; at least the interval.',
    schema: duration(1),
    defaultText: 'the larger of three intervals and interval + 2 × timeout of the service code',
  },
  'poll.stall_after': {
    doc: 'A task is stalled when its input bytes have not grown for this time, which must be longer than the service takes to renew them.',
    schema: duration(1),
    default: '60s',
  },
  'shard.count': {
    doc: 'Number of processes that share the service codes; exactly one of them polls each code.',
    schema: integerBetween(1, MAX_SHARDS),
    default: '1',
  },
  'shard.index': {
    doc: 'Index of this process, starting at 0.',
    schema: integerBetween(0, MAX_SHARDS - 1),
    defaultText: 'the number at the end of the host name, as in `xvs-exporter-3`',
  },
  'metrics.max_label_sets': {
    doc: 'Maximum number of label sets per metric family and service code; further ones are merged into `__other__`.',
    schema: positiveInteger,
    default: '2000',
  },
  'metrics.per_task': { doc: 'Expose metrics of individual tasks.', schema: boolean, default: 'false' },
  'metrics.max_tasks': {
    doc: 'Maximum number of tasks per service code with individual metrics.',
    schema: positiveInteger,
    default: '1000',
  },
  'tasks.name': {
    doc: 'Where the name of a task is: `opaque`, `opaque.KEY` for a key of it, `output.file_name`, `output.relative_dir` or `input.user_name`; see docs/service-codes.md.',
    schema: taskNameSource,
    defaultText: 'no name leaves the reader',
  },
  'ledger.max_stream_rate': {
    doc: 'Rate that one stream does not exceed, of an input or to a connection of an output. Faster values wait until three listings in a row confirm them. File tasks may read ten times as fast.',
    schema: bitRate,
    default: '100Mbit/s',
  },
  'state.path': {
    doc: 'Folder of the database that keeps counters across restarts and kills, on a local disk. Only one exporter can use it. `none` turns it off.',
    schema: filePath,
    defaultText: 'the first folder in `STATE_DIRECTORY`, if it can be used',
  },
  'web.listen_address': {
    doc: 'Addresses to listen on, also Unix sockets (`unix:/path`). The file accepts a list; the flag may be repeated.',
    schema: listenAddressList,
    default: ':20928',
  },
  'web.telemetry_path': { doc: 'Path of the metrics.', schema: telemetryPath, default: '/metrics' },
  'web.grafana_url': {
    doc: 'URL of Grafana. The status page links to the dashboard of each service code.',
    schema: grafanaUrl,
    defaultText: 'no links',
  },
  'web.max_requests': {
    doc: 'Maximum number of requests that wait, two of one client at most; further ones get status 503.',
    schema: positiveInteger,
    default: '40',
  },
  'web.enable_lifecycle': {
    doc: 'Let `POST /-/reload` reload the configuration.',
    schema: boolean,
    default: 'false',
  },
  'web.config.file': {
    doc: 'Web configuration file for TLS and authentication, in the format of the Prometheus exporters.',
    schema: filePath,
    defaultText: 'plain HTTP without authentication',
  },
  'web.open_probes': {
    doc: 'Serve `/-/healthy` and `/-/ready` without password and client certificate.',
    schema: boolean,
    default: 'false',
  },
  'log.level': {
    doc: 'Lowest level that is logged.',
    schema: choice('debug', 'info', 'warn', 'error'),
    default: 'info',
  },
  'log.format': {
    doc: 'Format of log lines.',
    schema: choice('logfmt', 'json'),
    default: 'logfmt',
  },
  'config.file': {
    doc: 'Configuration file, YAML or JSON. Paths in it are relative to its folder.',
    schema: filePath,
    excludedSource: 'file',
  },
  'config.auto_reload': {
    doc: 'Reload the configuration when its file, or a file named in it, changes. Always on with `service_code_files`.',
    schema: boolean,
    default: 'false',
  },
} as const satisfies Readonly<Record<string, Setting>>;

/** Key of a setting in the file, with dots: `poll.interval`. */
export type SettingPath = keyof typeof SETTINGS;

/** Parsed value of a setting; `undefined` only where the setting has no default. */
export type SettingValue<P extends SettingPath> =
  | z.output<(typeof SETTINGS)[P]['schema']>
  | ((typeof SETTINGS)[P] extends { readonly default: string } ? never : undefined);

export function listSettings(): readonly (readonly [SettingPath, Setting])[] {
  return Object.keys(SETTINGS)
    .filter(isSettingPath)
    .map((path) => [path, SETTINGS[path]]);
}

export function isSettingPath(path: string): path is SettingPath {
  return Object.hasOwn(SETTINGS, path);
}

/** In the order in which operators need them. */
const GROUP_TITLES = {
  '': 'Service codes and secret',
  upstream: 'Connection to the service',
  poll: 'Polling',
  shard: 'Sharding',
  metrics: 'Metrics',
  tasks: 'Names of tasks',
  ledger: 'Byte counters',
  web: 'Web server',
  state: 'State',
  log: 'Logging',
  config: 'Configuration file and reload',
  signing: 'Request signing; the default is the scheme of the public clients',
} as const;

export function listSettingGroups() {
  return Object.entries(GROUP_TITLES).map(([name, title]) => ({
    name,
    title,
    settings: listSettings().filter(([path]) => toGroupName(path) === name),
  }));
}

/** Returns the metadata of the schema of a setting, or of a key of a service code. */
export function describeSchema(schema: Setting['schema']): SchemaMeta {
  return schemaMeta.get(schema) ?? { typeName: 'string' };
}

/** `poll.stale_after` → `XVS_POLL_STALE_AFTER`. */
export function toEnvironmentName(path: string): string {
  return `XVS_${path.replaceAll('.', '_').toUpperCase()}`;
}

/** `poll.stale_after` → `--poll.stale-after`. */
export function toFlagName(path: string): string {
  return `--${path.replaceAll('_', '-')}`;
}

/** `poll.stale_after` → `poll`; a key without a dot has the group ''. */
export function toGroupName(path: string): string {
  return path.slice(0, Math.max(0, path.indexOf('.')));
}

/** The three ways to set a setting, as a remedy. */
export function formatHowToSet(path: SettingPath): string {
  return `set ${path} in the file, ${toEnvironmentName(path)} or ${toFlagName(path)}`;
}
