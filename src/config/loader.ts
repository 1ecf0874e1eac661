import type { Shard } from '../sharding/shard.ts';
import type { SigningScheme } from '../upstream/signing.ts';
import { CodeFileMemory, readCodeFiles, type CodeFileAccess } from './code-files.ts';
import type { CodeFile } from './code-lists.ts';
import { resolveCodes } from './code-settings.ts';
import type {
  Configuration,
  MetricsSettings,
  StateSettings,
  TlsSettings,
  UpstreamSettings,
  WebSettings,
} from './configuration.ts';
import type { ReadFile } from './files.ts';
import { pathFrom, readPem, readText } from './files.ts';
import type { Environment, Flags, Merged } from './layers.ts';
import { checkEntries, environmentEntries, flagEntries, mergeEntries } from './layers.ts';
import { minAgeProblems, pollSettings } from './poll-settings.ts';
import type { Problem } from './problem.ts';
import { ConfigError, mismatch, show, throwIfAny } from './problem.ts';
import { readProxies } from './proxy.ts';
import type { SettingsFile } from './settings-file.ts';
import { parseSettingsFile } from './settings-file.ts';
import { resolveShard } from './shard-settings.ts';

/** Where a configuration comes from. */
export interface Sources extends CodeFileAccess {
  readonly flags: Flags;
  readonly env: Environment;
  /** The name of this machine, asked for only where it says which shard this is. */
  readonly hostName: () => string;
  /** The shard that this process has been from the start on, whatever its settings say now. */
  readonly shard?: Shard | undefined;
}

/** A configuration, and the settings that it was made of. */
export interface Loaded {
  readonly configuration: Configuration;
  /** Each with where it came from. */
  readonly settings: Merged;
  /** The files of service codes that there are. */
  readonly codeFiles: readonly CodeFile[];
}

/**
 * Reads the configuration: defaults, then the file, the environment and the flags, each over the ones before.
 *
 * @throws ConfigError that lists every problem of the values; or, where each is good by itself, every problem
 * between them.
 */
export async function loadConfiguration(sources: Sources): Promise<Configuration> {
  return (await load(sources)).configuration;
}

/** The same, with the settings. */
export async function load(sources: Sources, memory = new CodeFileMemory()): Promise<Loaded> {
  const { flags, env, readFile } = sources;
  const given = [...environmentEntries(env), ...flagEntries(flags)];
  const location = given.filter(({ path }) => path === 'config.file');
  throwIfAny(checkEntries(location));
  const file = await readSettingsFile(mergeEntries(location), readFile);
  const entries = [...file.entries, ...given];
  throwIfAny([...file.problems, ...checkEntries(entries)]);
  const settings = mergeEntries(entries);
  const { files: codeFiles, problems } = await readCodeFiles(settings, sources, memory);
  throwIfAny(problems);
  return { configuration: await resolve(settings, codeFiles, sources), settings, codeFiles };
}

async function readSettingsFile(location: Merged, readFile: ReadFile): Promise<SettingsFile> {
  const path = location.find('config.file');
  const origin = location.origin('config.file');
  if (path === undefined || origin === undefined) return { entries: [], problems: [] };
  const text = await readText(readFile, { path, place: origin.place(), folder: undefined });
  return typeof text === 'string' ? parseSettingsFile(text, path) : { entries: [], problems: [text] };
}

async function resolve(
  settings: Merged,
  codeFiles: readonly CodeFile[],
  sources: Sources,
): Promise<Configuration> {
  const { env, readFile, hostName } = sources;
  const named = resolveShard(settings, hostName);
  // By itself: which files are read, thousands perhaps, depends on it.
  if ('place' in named) throw new ConfigError([named]);
  const shard = sources.shard ?? named;
  const codes = await resolveCodes(settings, codeFiles, readFile, shard);
  const { tls, problems: tlsProblems } = await resolveTls(settings, readFile);
  const { proxy, problems: proxyProblems } = readProxies(env);
  throwIfAny([
    ...codes.problems,
    ...minAgeProblems(settings, codes.serviceCodes),
    ...tlsProblems,
    ...proxyProblems,
    ...headerProblems(settings),
  ]);
  return {
    upstream: { ...upstreamLimits(settings), tls, proxy },
    signing: signingScheme(settings),
    serviceCodes: codes.serviceCodes,
    poll: pollSettings(settings),
    shard,
    elsewhere: codes.elsewhere,
    metrics: metricsSettings(settings),
    state: stateSettings(settings),
    web: webSettings(settings),
    log: { level: settings.read('log.level'), format: settings.read('log.format') },
  };
}

const PEM_FILES = [
  { name: 'ca', path: 'upstream.ca_file', kind: 'CERTIFICATE' },
  { name: 'cert', path: 'upstream.cert_file', kind: 'CERTIFICATE' },
  { name: 'key', path: 'upstream.key_file', kind: 'PRIVATE KEY' },
] as const;

async function resolveTls(
  settings: Merged,
  readFile: ReadFile,
): Promise<{ tls: TlsSettings; problems: readonly Problem[] }> {
  const problems: Problem[] = [];
  const texts = new Map<string, string>();
  for (const { name, path, kind } of PEM_FILES) {
    const file = settings.find(path);
    const origin = settings.origin(path);
    if (file === undefined || origin === undefined) continue;
    const text = await readPem(readFile, { path: file, place: origin.place(), folder: origin.folder }, kind);
    if (typeof text === 'string') texts.set(name, text);
    else problems.push(text);
  }
  return { tls: Object.fromEntries(texts), problems: [...lonelyHalf(settings), ...problems] };
}

/** A client certificate without its key is of no use, nor a key without its certificate. */
function lonelyHalf(settings: Merged): readonly Problem[] {
  const cert = settings.origin('upstream.cert_file');
  const key = settings.origin('upstream.key_file');
  const only = cert ?? key;
  if (only === undefined || (cert !== undefined && key !== undefined)) return [];
  const message = mismatch('upstream.cert_file and upstream.key_file together', `only ${only.path}`);
  return [{ place: only.place(), message }];
}

function headerProblems(settings: Merged): readonly Problem[] {
  const name = settings.read('signing.timestamp_header');
  if (name.toLowerCase() !== settings.read('signing.signature_header').toLowerCase()) return [];
  const origin = settings.origin('signing.timestamp_header') ?? settings.origin('signing.signature_header');
  const message = mismatch('two different headers for signature and timestamp', `${show(name)} for both`);
  return [{ place: origin?.place() ?? 'signing.timestamp_header', message }];
}

function upstreamLimits({ read }: Merged): Omit<UpstreamSettings, 'tls' | 'proxy'> {
  return {
    connectTimeoutMs: read('upstream.connect_timeout'),
    headersTimeoutMs: read('upstream.headers_timeout'),
    idleTimeoutMs: read('upstream.idle_timeout'),
    maxResponseBytes: read('upstream.max_response_size'),
    maxConnections: read('upstream.max_connections'),
  };
}

function signingScheme({ read }: Merged): SigningScheme {
  return {
    algorithm: read('signing.algorithm'),
    template: read('signing.template'),
    encoding: read('signing.encoding'),
    timestampUnit: read('signing.timestamp_unit'),
    signatureHeader: read('signing.signature_header'),
    timestampHeader: read('signing.timestamp_header'),
  };
}

function metricsSettings({ read }: Merged): MetricsSettings {
  return {
    maxLabelSets: read('metrics.max_label_sets'),
    perTask: read('metrics.per_task'),
    maxTasks: read('metrics.max_tasks'),
  };
}

function stateSettings({ find, read, origin }: Merged): StateSettings {
  const path = find('state.file');
  const file = path === undefined ? undefined : pathFrom(origin('state.file')?.folder, path);
  return { file, intervalMs: read('state.interval') };
}

function webSettings({ read, find, origin }: Merged): WebSettings {
  const file = find('web.config.file');
  const configFile = file === undefined ? undefined : pathFrom(origin('web.config.file')?.folder, file);
  return {
    ...(configFile === undefined ? {} : { configFile }),
    maxConnections: read('web.max_connections'),
    opensProbes: read('web.open_probes'),
    listenAddresses: read('web.listen_address'),
    telemetryPath: read('web.telemetry_path'),
    maxRequests: read('web.max_requests'),
    enableLifecycle: read('web.enable_lifecycle'),
  };
}
