import { resolve } from 'node:path';
import type { StaticLabels } from '../families/family.ts';
import { findFirstEndMs } from '../runtime/certificates.ts';
import type { Shard } from '../sharding/shard.ts';
import type { PolledCode } from '../poller/polled-code.ts';
import type { ClientOptions } from '../upstream/client.ts';
import type { SigningScheme } from '../upstream/signing.ts';
import { findUrlHint } from './addresses.ts';
import { findCertificateWarnings } from './certificate-warnings.ts';
import { createProblem, expectedFound, formatUrl, formatValue, type Problem } from './config-error.ts';
import type { ReadFile } from './file-system.ts';
import { findCaMistake, findKeyPairMistake, readPem } from './pem.ts';
import type { Environment, MergedSettings } from './sources.ts';

/** One service code with everything that polling it needs. Times in milliseconds. */
export interface ServiceCodeSettings extends Omit<PolledCode, 'signing'> {
  readonly labels: StaticLabels;
}

/** The whole configuration: parsed, checked, files read, secrets resolved. It never changes. */
export interface Configuration extends Readonly<ReturnType<typeof readStaticSettings>> {
  /** How to connect to the service. */
  readonly upstream: Pick<
    ClientOptions,
    'timeoutMs' | 'maxResponseBytes' | 'maxConnections' | 'tls' | 'proxy'
  > & {
    /** When the first certificate of `cert_file` expires; `undefined` without one. */
    readonly certificateNotAfterMs?: number;
  };
  /** Those that this process polls, each once; empty if files have none yet or other shards poll all. */
  readonly serviceCodes: readonly ServiceCodeSettings[];
  readonly shard: Shard;
  /** Service codes that other shards poll. */
  readonly codesOnOtherShards: ReadonlySet<string>;
}

/** A service code can contain a shorter secret by chance. */
const MIN_REVEALED_LENGTH = 6;

/** Besides those that static labels cannot have: job, instance, namespace and pod. */
const MONITOR_LABELS = ['service', 'endpoint', 'container'];

const QUOTES_REMEDY = 'docker --env-file does not strip quotes';

/** Finds what is valid but probably not meant, one line each. */
export function* findWarnings(configuration: Configuration, nowMs: number): Generator<string> {
  const { serviceCodes, ledger, upstream, signing } = configuration;
  // Metrics, logs and pages show service codes.
  const revealed = serviceCodes.filter(
    ({ serviceCode, secret }) => secret.length >= MIN_REVEALED_LENGTH && serviceCode.includes(secret),
  ).length;
  if (revealed > 0)
    yield `service_codes: ${expectedFound('codes without their secrets', `${revealed} with it, which metrics show`)}`;
  if (serviceCodes.some(({ serviceCode }) => /[\s;]/.test(serviceCode)))
    yield `service_codes: ${expectedFound('codes that are separated by commas', 'one with a blank or ";"')}`;
  // The first code of a list in quotes begins with one, the last one ends with one.
  if (serviceCodes.some(({ serviceCode }) => /^["']|["']$/.test(serviceCode)))
    yield `service_codes: ${expectedFound('a code without quotes around it', 'one with quotes', QUOTES_REMEDY)}`;
  if (/^(["']).*\1$/.test(signing.template))
    yield `signing.template: ${expectedFound('a template without quotes around it', 'one with quotes', QUOTES_REMEDY)}`;
  const urls = [...serviceCodes.map(({ baseUrl }) => baseUrl), upstream.proxy.httpProxy];
  const hasCertificates = Object.keys(upstream.tls).length > 0;
  if (hasCertificates && serviceCodes.length > 0 && !urls.some((url) => url?.startsWith('https:')))
    yield `upstream: ${expectedFound('an https URL for the certificates', 'http URLs, which use none')}`;
  if (upstream.tls.cert !== undefined)
    for (const warning of findCertificateWarnings(upstream.tls.cert, 'client', nowMs))
      yield `upstream.cert_file: ${warning}`;
  const labels = new Set(serviceCodes.flatMap((code) => Object.keys(code.labels)));
  for (const name of MONITOR_LABELS) {
    const remedy = `series that a ServiceMonitor or PodMonitor selects will have exported_${name}`;
    if (labels.has(name))
      yield `labels: ${expectedFound('names that targets in Kubernetes do not have', name, remedy)}`;
  }
  for (const { serviceCode, expectation } of serviceCodes) {
    const tooFast = expectation?.minima?.find(
      ({ inputBytesPerSecond = 0 }) => inputBytesPerSecond > ledger.maxStreamRate,
    );
    if (tooFast === undefined) continue;
    const found = `a higher one for ${formatValue(tooFast.name)} of service code ${formatValue(serviceCode)}`;
    const remedy = 'raise that setting: such streams are counted three listings late at each start';
    yield `expect.names: ${expectedFound('a min_input_rate of at most ledger.max_stream_rate', found, remedy)}`;
  }
}

export function readStaticSettings({ get, file: getFile, origin }: MergedSettings) {
  const state = get('state.path') === 'none' ? undefined : getFile('state.path');
  const file = getFile('config.file');
  return {
    signing: {
      algorithm: get('signing.algorithm'),
      template: get('signing.template'),
      encoding: get('signing.encoding'),
      timestampUnit: get('signing.timestamp_unit'),
      signatureHeader: get('signing.signature_header'),
      timestampHeader: get('signing.timestamp_header'),
    } satisfies SigningScheme,
    metrics: {
      maxLabelSets: get('metrics.max_label_sets'),
      perTask: get('metrics.per_task'),
      maxTasks: get('metrics.max_tasks'),
    },
    ledger: {
      maxStreamRate: get('ledger.max_stream_rate'),
    },
    /** `undefined` without state. A default folder need not be usable. */
    state: state && { path: state.path, isDefault: origin('state.path')?.isDefault === true },
    web: {
      configFile: getFile('web.config.file')?.path,
      hasOpenProbes: get('web.open_probes'),
      listenAddresses: get('web.listen_address'),
      telemetryPath: get('web.telemetry_path'),
      grafanaUrl: get('web.grafana_url'),
      maxRequests: get('web.max_requests'),
      isLifecycleEnabled: get('web.enable_lifecycle'),
    },
    /** Absolute path of the configuration file. */
    file: file && resolve(file.path),
    log: { level: get('log.level'), format: get('log.format') },
  } as const;
}

/** Reads the settings of the connection and the files that they name. Adds mistakes to `problems`. */
export async function readUpstreamSettings(
  { get, file, locate }: MergedSettings,
  environment: Environment,
  readFile: ReadFile,
  problems: Problem[],
): Promise<Configuration['upstream']> {
  const tls: { ca?: string; cert?: string; key?: string } = {};
  for (const { name, path, kind } of PEM_FILES) {
    const reference = file(path);
    if (reference === undefined) continue;
    const pem = await readPem(readFile, reference, kind);
    if (typeof pem === 'string') tls[name] = pem;
    else problems.push(pem);
  }
  const { ca, cert, key } = tls;
  const caMistake = ca === undefined ? undefined : findCaMistake(ca);
  if (caMistake !== undefined) problems.push({ location: locate('upstream.ca_file'), message: caMistake });
  const mistake = cert === undefined || key === undefined ? undefined : findKeyPairMistake(cert, key);
  if (mistake !== undefined)
    problems.push({ location: locate(`upstream.${mistake.part}_file`), message: mistake.message });
  return {
    timeoutMs: get('upstream.timeout'),
    maxResponseBytes: get('upstream.max_response_size'),
    maxConnections: get('upstream.max_connections'),
    tls,
    ...(cert !== undefined && { certificateNotAfterMs: findFirstEndMs(cert) }),
    proxy: readProxySettings(environment, problems),
  };
}

const PEM_FILES = [
  { name: 'ca', path: 'upstream.ca_file', kind: 'CERTIFICATE' },
  { name: 'cert', path: 'upstream.cert_file', kind: 'CERTIFICATE' },
  { name: 'key', path: 'upstream.key_file', kind: 'PRIVATE KEY' },
] as const;

/** A variable in lower case, else in upper case, as for curl; an empty one counts as not set. */
function readProxySettings(environment: Environment, problems: Problem[]): ClientOptions['proxy'] {
  const readVariable = (name: string): string | undefined =>
    environment[name] || environment[name.toUpperCase()] || undefined;
  const readUrl = (name: string): string | undefined => {
    const value = readVariable(name);
    if (value === undefined) return undefined;
    // Without a scheme it is an HTTP proxy, as for curl.
    const url = value.includes('://') ? value : `http://${value}`;
    if (URL.canParse(url) && /^https?:$/.test(new URL(url).protocol)) return url;
    const form = 'a proxy such as http://proxy.example.com:3128';
    const location = `environment variable ${environment[name] === value ? name : name.toUpperCase()}`;
    problems.push(createProblem(location, form, formatUrl(value), findUrlHint(url)));
    return undefined;
  };
  return {
    httpProxy: readUrl('http_proxy'),
    httpsProxy: readUrl('https_proxy'),
    noProxy: readVariable('no_proxy'),
  };
}
