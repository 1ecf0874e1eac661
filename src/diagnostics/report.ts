import { formatRejectedEntry } from '../listing/listing.ts';
import { readCounts, sumColumn } from '../listing/rows.ts';
import { findRemedies, getRedirectOrigin } from '../poller/remedies.ts';
import { wrapText } from '../runtime/output.ts';
import { formatTaskCondition, type ExpectedTask } from '../tally/expectations.ts';
import type { ResponseHead } from '../upstream/request-observer.ts';
import type { Observation } from './observe-poll.ts';

const LABEL_WIDTH = 14;
const TEXT_WIDTH = 100 - LABEL_WIDTH - 2;

type Section = readonly [label: string, lines: readonly string[]];

/** Formats an observation as a report for people. `nowMs` is wall-clock time. */
export function formatReport(
  observation: Observation,
  nowMs: number,
  expectedTasks: readonly ExpectedTask[] = [],
): string {
  const lines = [...listSections(observation, nowMs, expectedTasks)].flatMap(formatSection);
  return `${[observation.target.serviceCode, ...lines].map(escapeNonPrintable).join('\n')}\n`;
}

function* listSections(
  observation: Observation,
  nowMs: number,
  expectedTasks: readonly ExpectedTask[],
): Generator<Section> {
  const { fetched } = observation;
  const { error, response } = fetched;
  yield ['request', formatRequest(observation)];
  yield ['signed', formatSigning(observation)];
  yield ['connection', formatConnection(observation, nowMs)];
  if (response !== undefined) {
    yield ['clock', [formatClock(response)]];
    yield ['response', [formatResponse(response)]];
    yield ['ret', [String(fetched.ret ?? 'none')]];
    yield ['size', [formatSize(observation)]];
    const lines = formatListing(observation);
    if (lines.length > 0) yield ['listing', lines];
    if (error === undefined && fetched.listing.taskCount > 0)
      yield ['task names', formatTaskNames(observation)];
  }
  if (expectedTasks.length > 0) yield ['expected', formatExpectedTasks(expectedTasks)];
  yield ['times', [formatTimes(observation)]];
  const result = error === undefined ? 'ok' : `failed: ${error.reason}. ${error.message}`;
  yield ['result', wrapText(result, TEXT_WIDTH)];
  for (const remedy of findRemedies(observation)) yield ['remedy', wrapText(remedy, TEXT_WIDTH)];
}

function formatSection([label, lines]: Section): readonly string[] {
  return lines.map((line, index) => `  ${(index === 0 ? label : '').padEnd(LABEL_WIDTH)}${line}`);
}

function formatRequest({ request, isRequestSent }: Observation): readonly string[] {
  const { line = 'none', headers = {} } = request ?? {};
  return [
    ...(isRequestSent ? [] : ['signed, but not sent, because no connection to the service could be made:']),
    line,
    ...Object.entries(headers).map(([name, value]) => `${name}: ${value}`),
  ];
}

function formatSigning({ request, target: { signing, secret } }: Observation): readonly string[] {
  const key = `<secret of ${Buffer.byteLength(secret)} bytes>`;
  const text = request === undefined ? [] : [request.stringToSign];
  return [...text, `HMAC of ${signing.algorithm}, ${signing.encoding}, key ${key}`];
}

function formatConnection({ connection, fetched }: Observation, nowMs: number): readonly string[] {
  const { peer = 'none', proxy } = connection;
  const until = fetched.response?.certificateNotAfterMs;
  const days = Math.floor(((until ?? 0) - nowMs) / 86_400_000);
  const validity = until === undefined ? '' : `, certificate valid until ${formatDate(until)} (${days} days)`;
  return [peer + validity, ...(proxy === undefined ? [] : [`through the proxy ${proxy}`])];
}

function formatDate(ms: number): string {
  return Number.isFinite(ms) ? new Date(ms).toISOString().slice(0, 10) : 'an unknown date';
}

function formatClock({ clockOffset }: ResponseHead): string {
  if (clockOffset === undefined) return 'unknown: the response has no valid Date header';
  const { aheadMs, uncertaintyMs } = clockOffset;
  if (Math.abs(aheadMs) <= uncertaintyMs) return `in sync (within ${formatSeconds(uncertaintyMs)})`;
  const offset = `${formatSeconds(Math.abs(aheadMs))} ± ${formatSeconds(uncertaintyMs)}`;
  return `this machine is ${offset} ${aheadMs > 0 ? 'ahead of' : 'behind'} the service`;
}

/** Shows headers only in forms that cannot contain arbitrary text of the server. */
function formatResponse(response: ResponseHead): string {
  const { status, header, ageMs } = response;
  const [mediaType = 'no content-type'] = /^[\w.+-]+\/[\w.+-]+/.exec(header('content-type') ?? '') ?? [];
  const [coding = 'not compressed'] = /^[\w, -]+$/.exec(header('content-encoding') ?? '') ?? [];
  const redirectOrigin = getRedirectOrigin(response);
  const parts = [`HTTP status ${status}`, mediaType, coding];
  if (redirectOrigin !== undefined) parts.push(`redirect to ${redirectOrigin}`);
  if (ageMs > 0) parts.push(`${ageMs / 1000} s old, from a cache`);
  return parts.join(', ');
}

function formatSize({ fetched: { bytes = 0 }, compressedBytes }: Observation): string {
  return bytes === compressedBytes ? `${bytes} bytes` : `${bytes} bytes, ${compressedBytes} compressed`;
}

function formatTimes({ times: { connectedMs, firstByteMs, totalMs } }: Observation): string {
  const stages = { connected: connectedMs, headers: firstByteMs, done: totalMs };
  const texts = Object.entries(stages).flatMap(([stage, ms]) =>
    ms === undefined ? [] : [`${stage} after ${ms.toFixed(ms < 10 ? 1 : 0)} ms`],
  );
  return texts.join(', ');
}

/** Counts the entries; those of a failed listing were read before the failure. */
function formatListing({ fetched }: Observation): readonly string[] {
  if (fetched.error !== undefined) {
    const { users, tasks } = fetched;
    return users + tasks === 0 ? [] : [`${users} users, ${tasks} tasks (incomplete, discarded)`];
  }
  const { users, taskCount, rows, firstRejected } = fetched.listing;
  const inputs = sumColumn(rows.inputs.columns.inputs);
  const outputs = sumColumn(rows.outputs.columns.outputs);
  const streams = sumColumn(rows.streams.columns.streams);
  const rejected = sumColumn(rows.invalidRecords.columns.invalidRecords);
  const invalidFields = Object.entries(readCounts(rows.invalidFields));
  const omitted = rejected - firstRejected.length;
  return [
    `${users} users, ${taskCount} tasks with ${inputs} inputs, ${outputs} outputs, ${streams} streams`,
    ...(rejected === 0 ? [] : [`${rejected} invalid ${rejected === 1 ? 'entry' : 'entries'} skipped:`]),
    ...firstRejected.map((entry) => `  ${formatRejectedEntry(entry)}`),
    ...(omitted > 0 ? [`  and ${omitted} more`] : []),
    ...(invalidFields.length > 0 ? ['invalid fields, which count as missing:'] : []),
    ...invalidFields.map(([field, count]) => `  ${field.replace(' ', '.')}: ${count}`),
  ];
}

/** Shows what each value of `tasks.name` would give, one line per task. */
function formatTaskNames({ taskNames }: Observation): readonly string[] {
  if (taskNames === undefined)
    return ['not shown: the listing is larger than 16 MiB, or has invalid JSON in skipped fields'];
  // Bounded: ten keys and the fields.
  const width = Math.max(...taskNames.map(({ source }) => source.length));
  const lines = taskNames.flatMap(({ source, names }) => {
    const shown = names.every((name) => name === undefined) ? ['no names'] : names;
    return shown.map((name, task) => `  ${(task === 0 ? source : '').padEnd(width)}  ${name ?? '–'}`);
  });
  return ['of the first tasks, by what tasks.name can be:', ...lines];
}

function formatExpectedTasks(tasks: readonly ExpectedTask[]): readonly string[] {
  // Bounded: 1,000 names of a code.
  const width = Math.max(...tasks.map(({ name }) => name.length));
  return tasks.map((task) => {
    const found = [
      formatTaskCondition(task.condition),
      ...(task.condition === 'missing' ? [] : listFound(task)),
    ];
    return `${task.name.padEnd(width)}  ${found.join(', ')}`;
  });
}

function listFound(task: ExpectedTask): string[] {
  const { inputRate, slowSinceMs, outputs = 0, fewerOutputs, connections = 0, minima, waiting = 0 } = task;
  const minRate = minima?.inputBytesPerSecond;
  const rate = inputRate === undefined ? 'rate unknown (use --for=30s)' : formatMegabits(inputRate);
  const relation = slowSinceMs === undefined ? ' of at least' : ', below';
  const least = minRate === undefined ? '' : `${relation} ${formatMegabits(minRate)}`;
  return [
    `${rate}${least}`,
    ...(waiting > 0 ? [`${waiting} byte counts wait`] : []),
    `outputs ${outputs}${fewerOutputs === undefined ? '' : `, below ${fewerOutputs.than}`}`,
    `connections ${connections}`,
  ];
}

function formatMegabits(bytesPerSecond: number): string {
  return `${((bytesPerSecond * 8) / 1e6).toFixed(2)} Mbit/s`;
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
