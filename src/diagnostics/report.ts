import { hintsFor } from './hints.ts';
import type { Answer, ClockDifference, Connection, Observation, Times } from './observation.ts';
import { wrap } from '../wrapping.ts';

const LABEL_WIDTH = 14;
const TEXT_WIDTH = 100 - LABEL_WIDTH - 2;

/** A label and what it says, a line each. */
type Section = readonly [label: string, lines: readonly string[]];

/** An observation as text for people, hints last. `nowMs` is wall-clock time. */
export function explanation(seen: Observation, nowMs: number): string {
  const result =
    seen.failure === undefined ? 'good' : `failed: ${seen.failure.reason}. ${seen.failure.message}`;
  const sections: readonly Section[] = [
    ['request', requestLines(seen)],
    ['signed', signedLines(seen)],
    ['connection', connectionLines(seen.connection, nowMs)],
    ...(seen.answer === undefined ? [] : answerSections(seen, seen.answer)),
    ['times', [timesLine(seen.times)]],
    ['result', wrap(result, TEXT_WIDTH)],
    ...hintsFor(seen).map((hint): Section => ['hint', wrap(hint, TEXT_WIDTH)]),
  ];
  return `${[shown(seen.serviceCode), ...sections.flatMap(sectionLines)].join('\n')}\n`;
}

function sectionLines([label, lines]: Section): readonly string[] {
  return lines.map((line, index) => `  ${(index === 0 ? label : '').padEnd(LABEL_WIDTH)}${line}`);
}

function requestLines({ request, attempts, baseUrl }: Observation): readonly string[] {
  if (request === undefined) return [`none, to ${baseUrl}`];
  return [
    request.line,
    ...Object.entries(request.headers).map(([name, value]) => `${name}: ${value}`),
    ...(attempts > 1 ? [`(sent ${attempts} times: a kept-alive connection had been closed)`] : []),
  ];
}

function signedLines({ request, signing, secret }: Observation): readonly string[] {
  return [
    shown(request?.stringToSign ?? ''),
    `HMAC of ${signing.algorithm}, ${signing.encoding}, key <secret of ${secret.bytes} bytes>`,
  ];
}

function connectionLines({ peer, tls, proxy }: Connection, nowMs: number): readonly string[] {
  const until = tls?.validUntilMs;
  const days = Math.floor(((until ?? 0) - nowMs) / 86_400_000);
  const validity =
    until === undefined
      ? ''
      : `, certificate valid until ${new Date(until).toISOString().slice(0, 10)} (${days} days)`;
  const security = tls === undefined ? 'no TLS' : `${tls.version}${validity}`;
  return [
    peer === undefined ? 'none' : `${peer}, ${security}`,
    ...(proxy === undefined ? [] : [`through the proxy ${proxy}`]),
  ];
}

function clockLine(clock: ClockDifference | undefined): string {
  if (clock === undefined) return 'unknown: the answer has no date';
  const { aheadMs, uncertaintyMs } = clock;
  const amount = `${seconds(Math.abs(aheadMs))} ± ${seconds(uncertaintyMs)}`;
  if (Math.abs(aheadMs) <= uncertaintyMs)
    return `this machine and the service agree (to ${seconds(uncertaintyMs)})`;
  return `this machine is ${amount} ${aheadMs > 0 ? 'ahead of' : 'behind'} the service`;
}

/** What there is to say where there was an answer. */
function answerSections(seen: Observation, answer: Answer): readonly Section[] {
  const { listing, failure } = seen;
  const isEmpty = listing.users + listing.tasks + listing.invalid === 0;
  return [
    ['clock', [clockLine(seen.clock)]],
    ['answer', [answerLine(answer)]],
    ['ret', [seen.ret === undefined ? 'none' : String(seen.ret)]],
    ['size', [sizeLine(seen)]],
    ...(failure !== undefined && isEmpty ? [] : [['listing', listingLines(seen)] as const]),
  ];
}

function answerLine(answer: Answer): string {
  const {
    status,
    mediaType = 'no content-type',
    contentEncoding = 'not compressed',
    redirectOrigin,
  } = answer;
  const parts = [`HTTP status ${status}`, mediaType, contentEncoding];
  return [...parts, ...(redirectOrigin === undefined ? [] : [`redirect to ${redirectOrigin}`])].join(', ');
}

function sizeLine({ body: { bytes, compressedBytes } }: Observation): string {
  return bytes === compressedBytes ? `${bytes} bytes` : `${bytes} bytes, ${compressedBytes} as they came`;
}

function timesLine({ connectedMs, firstByteMs, wholeMs }: Times): string {
  const at = (name: string, ms: number | undefined): string[] =>
    ms === undefined ? [] : [`${name} after ${milliseconds(ms)}`];
  return [
    ...at('connected', connectedMs),
    ...at('head of the answer', firstByteMs),
    ...at('over', wholeMs),
  ].join(', ');
}

function listingLines({ listing, failure }: Observation): readonly string[] {
  const { users, tasks, inputs, outputs, streams, invalid, firstInvalid } = listing;
  const counts = `${users} users, ${tasks} tasks with ${inputs} inputs, ${outputs} outputs, ${streams} streams`;
  const rest = invalid - firstInvalid.length;
  return [
    failure === undefined ? counts : `${counts} (read before it failed: of no use)`,
    ...(invalid === 0 ? [] : [`${invalid} entries were left out:`]),
    ...firstInvalid.map(({ place, reason }) => `  ${place}: ${reason}`),
    ...(rest > 0 ? [`  and ${rest} more`] : []),
  ];
}

function seconds(ms: number): string {
  return `${(ms / 1000).toFixed(1)} s`;
}

function milliseconds(ms: number): string {
  return `${ms.toFixed(ms < 10 ? 1 : 0)} ms`;
}

/** Text that may hold anything, without what steers a terminal or does not show. */
function shown(text: string): string {
  return text.replaceAll(
    /[\p{Cc}\p{Cf}\u2028\u2029]/gu,
    (character) => `\\u{${character.codePointAt(0)?.toString(16) ?? ''}}`,
  );
}
