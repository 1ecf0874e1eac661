import type { RejectedEntry } from '../listing/listing.ts';
import { wrapText } from '../runtime/output.ts';
import type { ClockOffset } from '../upstream/response-headers.ts';
import type { ObservedConnection, Observation, ObservedResponse, Timings } from './observation.ts';
import { findRemedies } from './remedies.ts';
import type { ServerCertificate } from './server-certificate.ts';

const LABEL_WIDTH = 14;
const TEXT_WIDTH = 100 - LABEL_WIDTH - 2;

type Section = readonly [label: string, lines: readonly string[]];

/** Formats an observation as a report for people, with remedies at the end. `nowMs` is wall-clock time. */
export function formatReport(observation: Observation, nowMs: number): string {
  const lines = [...listSections(observation, nowMs)].flatMap(formatSection);
  return `${[escapeNonPrintable(observation.serviceCode), ...lines].join('\n')}\n`;
}

function* listSections(observation: Observation, nowMs: number): Generator<Section> {
  const { connection, rejectedCertificate, clock, response, ret, listing, times, failure } = observation;
  yield ['request', formatRequest(observation)];
  yield ['signed', formatSigning(observation)];
  yield ['connection', formatConnection(connection, nowMs)];
  if (rejectedCertificate !== undefined) yield ['certificate', formatCertificate(rejectedCertificate)];
  if (response !== undefined) {
    yield ['clock', [formatClock(clock)]];
    yield ['response', [formatResponse(response)]];
    yield ['ret', [String(ret ?? 'none')]];
    yield ['size', [formatSize(observation)]];
    const isEmpty = listing.users + listing.tasks + listing.invalid === 0;
    if (failure === undefined || !isEmpty) yield ['listing', formatListing(observation)];
    if (failure === undefined && listing.tasks > 0) yield ['task names', formatTaskNames(observation)];
  }
  yield ['times', [formatTimes(times)]];
  const result = failure === undefined ? 'ok' : `failed: ${failure.reason}. ${failure.message}`;
  yield ['result', wrapText(result, TEXT_WIDTH)];
  for (const remedy of findRemedies(observation)) yield ['remedy', wrapText(remedy, TEXT_WIDTH)];
}

function formatSection([label, lines]: Section): readonly string[] {
  return lines.map((line, index) => `  ${(index === 0 ? label : '').padEnd(LABEL_WIDTH)}${line}`);
}

function formatRequest({ request, attempts, baseUrl }: Observation): readonly string[] {
  if (request === undefined) return [`not sent to ${baseUrl}`];
  return [
    request.line,
    ...Object.entries(request.headers).map(([name, value]) => `${name}: ${value}`),
    ...(attempts > 1 ? [`(sent ${attempts} times: the service had closed a kept-alive connection)`] : []),
  ];
}

function formatSigning({ request, signing, secret }: Observation): readonly string[] {
  return [
    escapeNonPrintable(request?.stringToSign ?? ''),
    `HMAC of ${signing.algorithm}, ${signing.encoding}, key <secret of ${secret.bytes} bytes>`,
  ];
}

function formatConnection({ peer, tls, proxy }: ObservedConnection, nowMs: number): readonly string[] {
  const until = tls?.validUntilMs;
  const days = Math.floor(((until ?? 0) - nowMs) / 86_400_000);
  const validity = until === undefined ? '' : `, certificate valid until ${formatDate(until)} (${days} days)`;
  const security = tls === undefined ? 'no TLS' : `${tls.version}${validity}`;
  return [
    peer === undefined ? 'none' : `${peer}, ${security}`,
    ...(proxy === undefined ? [] : [`through the proxy ${proxy}`]),
  ];
}

function formatCertificate({
  issuer,
  names,
  validFromMs,
  validUntilMs,
}: ServerCertificate): readonly string[] {
  return [
    `issued by ${issuer}`,
    `for ${names}`,
    `valid from ${formatDate(validFromMs)} until ${formatDate(validUntilMs)}`,
  ];
}

function formatDate(ms: number): string {
  return Number.isNaN(ms) ? 'an unknown date' : new Date(ms).toISOString().slice(0, 10);
}

function formatClock(clock: ClockOffset | undefined): string {
  if (clock === undefined) return 'unknown: the response has no valid Date header';
  const { aheadMs, uncertaintyMs } = clock;
  if (Math.abs(aheadMs) <= uncertaintyMs) return `in sync (within ${formatSeconds(uncertaintyMs)})`;
  const offset = `${formatSeconds(Math.abs(aheadMs))} ± ${formatSeconds(uncertaintyMs)}`;
  return `this machine is ${offset} ${aheadMs > 0 ? 'ahead of' : 'behind'} the service`;
}

function formatResponse({
  status,
  mediaType = 'no content-type',
  contentEncoding = 'not compressed',
  redirectOrigin,
  ageMs,
}: ObservedResponse): string {
  const parts = [`HTTP status ${status}`, mediaType, contentEncoding];
  if (redirectOrigin !== undefined) parts.push(`redirect to ${redirectOrigin}`);
  if (ageMs > 0) parts.push(`${ageMs / 1000} s old, from a cache`);
  return parts.join(', ');
}

function formatSize({ body: { bytes, compressedBytes } }: Observation): string {
  return bytes === compressedBytes ? `${bytes} bytes` : `${bytes} bytes, ${compressedBytes} compressed`;
}

function formatTimes({ connectedMs, firstByteMs, totalMs }: Timings): string {
  const stages = { connected: connectedMs, headers: firstByteMs, done: totalMs };
  const texts = Object.entries(stages).flatMap(([stage, ms]) =>
    ms === undefined ? [] : [`${stage} after ${ms.toFixed(ms < 10 ? 1 : 0)} ms`],
  );
  return texts.join(', ');
}

function formatListing({ listing, failure }: Observation): readonly string[] {
  const { users, tasks, inputs, outputs, streams, invalid, firstInvalid, invalidFields } = listing;
  const counts = `${users} users, ${tasks} tasks with ${inputs} inputs, ${outputs} outputs, ${streams} streams`;
  const omitted = invalid - firstInvalid.length;
  return [
    failure === undefined ? counts : `${counts} (incomplete, discarded)`,
    ...(invalid === 0 ? [] : [`${invalid} invalid ${invalid === 1 ? 'entry' : 'entries'} skipped:`]),
    ...firstInvalid.map((entry) => `  ${formatRejectedEntry(entry)}`),
    ...(omitted > 0 ? [`  and ${omitted} more`] : []),
    ...(invalidFields.length > 0 ? ['invalid fields, which count as missing:'] : []),
    ...invalidFields.map(({ record, field, count }) => `  ${record}.${field}: ${count}`),
  ];
}

/** Formats a rejected entry with its location: `user_list[3]: not_object`, `an output of task_list[0]: too_large`. */
export function formatRejectedEntry({ record, index, reason }: RejectedEntry): string {
  if (record === 'user') return `user_list[${index}]: ${reason}`;
  const owner = record === 'task' ? '' : `${/^[aeiou]/.test(record) ? 'an' : 'a'} ${record} of `;
  return `${owner}task_list[${index}]: ${reason}`;
}

/** Shows what each value of `tasks.name` would give, one line per task. */
function formatTaskNames({ taskNames }: Observation): readonly string[] {
  if (taskNames === undefined)
    return ['not shown: the listing is larger than 16 MiB, or has invalid JSON in skipped fields'];
  const width = Math.max(...taskNames.map(({ source }) => source.length));
  const lines = taskNames.flatMap(({ source, names }) => {
    const shown = names.every((name) => name === undefined) ? ['no names'] : names;
    return shown.map((name, task) => `  ${(task === 0 ? source : '').padEnd(width)}  ${name ?? '–'}`);
  });
  return ['of the first tasks, by what tasks.name can be:', ...lines.map(escapeNonPrintable)];
}

function formatSeconds(ms: number): string {
  return `${(ms / 1000).toFixed(1)} s`;
}

/** Escapes the characters that control a terminal or are invisible. */
function escapeNonPrintable(text: string): string {
  return text.replaceAll(
    /[\p{Cc}\p{Cf}\u2028\u2029]/gu,
    (character) => `\\u{${character.codePointAt(0)?.toString(16) ?? ''}}`,
  );
}
