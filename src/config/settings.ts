import { MAX_SHARDS } from '../sharding/shard.ts';
import { baseUrl, listenAddressList, telemetryPath } from './addresses.ts';
import { codeGlobList } from './code-globs.ts';
import type { Format } from './format.ts';
import { choice, count, duration, filePath, flag, secretText, size, wholeNumber } from './format.ts';
import { serviceCodeList } from './service-codes.ts';
import { headerName, signingTemplate } from './signing.ts';

/** What a setting is, whichever of its three names it is given by. */
export interface Setting {
  /** One sentence for the reference and `--help`. */
  readonly doc: string;
  readonly format: Format<unknown>;
  /** As one would write it; undefined where there is none. */
  readonly default: string | undefined;
  /** What happens without it, where that is no plain default. */
  readonly otherwise?: string;
  /** The one source that the setting cannot come from. */
  readonly notFrom?: 'file' | 'flag';
}

/**
 * Every setting, by its key in the file, in the order of the reference. The schema, the names in the
 * environment and on the command line, `--help` and the reference are made from it.
 */
export const SETTINGS = {
  'upstream.base_url': {
    doc: 'Address of the service, without the path of the call.',
    format: baseUrl,
    default: undefined,
    otherwise: 'required, unless every code has its own',
  },
  'upstream.timeout': { doc: 'Deadline of a whole poll.', format: duration(1), default: '10s' },
  'upstream.connect_timeout': {
    doc: 'Deadline for a connection, TLS included.',
    format: duration(1),
    default: '5s',
  },
  'upstream.headers_timeout': {
    doc: 'Deadline for the head of the answer, from the request on.',
    format: duration(1),
    default: '10s',
  },
  'upstream.idle_timeout': {
    doc: 'Longest silence between two pieces of the body.',
    format: duration(1),
    default: '5s',
  },
  'upstream.max_response_size': {
    doc: 'Largest body that is read, decompressed.',
    format: size,
    default: '1GiB',
  },
  'upstream.max_connections': {
    doc: 'Connections to one host and port at the same time.',
    format: count,
    default: '64',
  },
  'upstream.ca_file': {
    doc: 'Certificates (PEM) to trust instead of those that come with Node.js.',
    format: filePath,
    default: undefined,
  },
  'upstream.cert_file': {
    doc: 'Client certificate (PEM), together with `upstream.key_file`.',
    format: filePath,
    default: undefined,
  },
  'upstream.key_file': {
    doc: 'Key of the client certificate (PEM).',
    format: filePath,
    default: undefined,
  },
  'signing.algorithm': {
    doc: 'Hash of the HMAC.',
    format: choice('sha256', 'sha1', 'sha384', 'sha512', 'md5'),
    default: 'sha256',
  },
  'signing.template': {
    doc: 'What is signed: the path, the query before percent-encoding, the timestamp.',
    format: signingTemplate,
    default: '{path}{query}{timestamp}',
  },
  'signing.encoding': {
    doc: 'How the signature is written.',
    format: choice('hex', 'base64', 'base64url'),
    default: 'hex',
  },
  'signing.timestamp_unit': {
    doc: 'Unit of the timestamp, since the Unix epoch.',
    format: choice('ms', 's'),
    default: 'ms',
  },
  'signing.signature_header': {
    doc: 'Header of the signature.',
    format: headerName,
    default: 'xvs-signature',
  },
  'signing.timestamp_header': {
    doc: 'Header of the timestamp.',
    format: headerName,
    default: 'xvs-timestamp',
  },
  service_codes: {
    doc: 'What to poll. In the file a list of codes, or of mappings that give a code settings of its own.',
    format: serviceCodeList,
    default: undefined,
    otherwise: 'required without `service_code_files`',
  },
  service_code_files: {
    doc: 'Files with lists of such codes (.yml, .yaml, .json), `*` for any part of their name. They are watched, as with `config.auto_reload`; see docs/service-codes.md.',
    format: codeGlobList,
    default: undefined,
  },
  secret: {
    doc: 'Shared secret of each code without its own. No flag: a command line is visible to every user.',
    format: secretText,
    default: undefined,
    notFrom: 'flag',
  },
  secret_file: {
    doc: 'File that holds that secret; a newline at its end is dropped.',
    format: filePath,
    default: undefined,
  },
  'poll.mode': {
    doc: 'What makes it poll: its own clock (`interval`) or whoever scrapes (`scrape`). Holds until a restart.',
    format: choice('interval', 'scrape'),
    default: 'interval',
  },
  'poll.interval': {
    doc: 'Time from poll to poll of a code; with `poll.mode` `scrape`, from scrape to scrape, as Prometheus has it.',
    format: duration(1000),
    default: '15s',
  },
  'poll.min_age': {
    doc: 'With `poll.mode` `scrape`: a code is polled if its last poll began so long ago; at most the interval.',
    format: duration(0),
    default: '5s',
  },
  'poll.stale_after': {
    doc: 'Without a good listing for so long, the metrics of a code vanish; at least the interval.',
    format: duration(1),
    default: undefined,
    otherwise: 'three intervals of the code',
  },
  'poll.stall_after': {
    doc: 'A task whose bytes flowed once and stand still for so long is stalled.',
    format: duration(1),
    default: '60s',
  },
  'shard.count': {
    doc: 'Processes that share the service codes; each code is polled by one of them.',
    format: wholeNumber(1, MAX_SHARDS),
    default: '1',
  },
  'shard.index': {
    doc: 'Which of them this is, from 0 on.',
    format: wholeNumber(0, MAX_SHARDS - 1),
    default: undefined,
    otherwise: 'the number at the end of the host name, as in `xvs-exporter-3`',
  },
  'metrics.max_label_sets': {
    doc: 'Label sets of one metric family and service code; more are folded into `__other__`.',
    format: count,
    default: '1000',
  },
  'metrics.per_task': { doc: 'Expose metrics of single tasks.', format: flag, default: 'false' },
  'metrics.max_tasks': {
    doc: 'Tasks of one service code that have metrics of their own.',
    format: count,
    default: '1000',
  },
  'state.file': {
    doc: 'File that keeps counters over a restart. One exporter writes it; its folder must exist.',
    format: filePath,
    default: undefined,
    otherwise: 'counters begin at 0 with each start',
  },
  'state.interval': {
    doc: 'Time from write to write of that file; it is written at the end too.',
    format: duration(1000),
    default: '1m',
  },
  'web.listen_address': {
    doc: 'Where to listen. In the file also a list; the flag may be repeated.',
    format: listenAddressList,
    default: ':20928',
  },
  'web.telemetry_path': { doc: 'Path of the metrics.', format: telemetryPath, default: '/metrics' },
  'web.max_requests': {
    doc: 'Requests answered at the same time; more are answered with 503.',
    format: count,
    default: '40',
  },
  'web.enable_lifecycle': {
    doc: 'Whether `POST /-/reload` reads the configuration again.',
    format: flag,
    default: 'false',
  },
  'web.max_connections': {
    doc: 'Connections to one listen address at the same time; more are closed at once.',
    format: count,
    default: '512',
  },
  'web.config.file': {
    doc: 'Web configuration file for TLS and authentication, in the format of the Prometheus exporters.',
    format: filePath,
    default: undefined,
    otherwise: 'plain HTTP, for everyone',
  },
  'web.open_probes': {
    doc: 'Answer `/-/healthy` and `/-/ready` without authentication, client certificate and rate limit.',
    format: flag,
    default: 'false',
  },
  'log.level': {
    doc: 'Least important line that is logged.',
    format: choice('debug', 'info', 'warn', 'error'),
    default: 'info',
  },
  'log.format': {
    doc: 'How a line is written; `pretty` is for people, `auto` is that at a terminal and `json` elsewhere.',
    format: choice('auto', 'json', 'logfmt', 'pretty'),
    default: 'auto',
  },
  'config.file': {
    doc: 'Configuration file, YAML or JSON. Paths in it are relative to its folder.',
    format: filePath,
    default: undefined,
    notFrom: 'file',
  },
  'config.auto_reload': {
    doc: 'Whether the configuration is read again when its file, or a file that it names, has changed. With `service_code_files` it always is.',
    format: flag,
    default: 'false',
  },
} satisfies Readonly<Record<string, Setting>>;

/** Key of a setting in the file, with dots: `poll.interval`. */
export type SettingPath = keyof typeof SETTINGS;

/** Keys of the settings that always have a value. */
export type DefaultedPath = {
  [P in SettingPath]: (typeof SETTINGS)[P]['default'] extends string ? P : never;
}[SettingPath];

/** What a setting is once it is parsed. */
export type SettingValue<P extends SettingPath> =
  (typeof SETTINGS)[P]['format'] extends Format<infer Value> ? Value : never;

/** Every setting with its key, typed as what they have in common. */
export function settingEntries(): readonly (readonly [SettingPath, Setting])[] {
  return Object.keys(SETTINGS)
    .filter(isSettingPath)
    .map((path) => [path, SETTINGS[path]]);
}

export function isSettingPath(path: string): path is SettingPath {
  return Object.hasOwn(SETTINGS, path);
}
