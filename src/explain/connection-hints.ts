import type { Hint } from './hint.ts';
import type { Observation } from './observation.ts';

const NOT_TLS: readonly string[] = [
  'ERR_SSL_WRONG_VERSION_NUMBER',
  'ERR_SSL_PACKET_LENGTH_TOO_LONG',
  'EPROTO',
];
const UNKNOWN_AUTHORITY = /^(?:UNABLE_TO_|SELF_SIGNED_|DEPTH_ZERO_)/;

const isHttps = ({ baseUrl }: Observation): boolean => baseUrl.startsWith('https:');
const hostOf = ({ baseUrl }: Observation): string => new URL(baseUrl).host;
const codeOf = ({ failure }: Observation): string => failure?.code ?? '';

const httpsToHttp: Hint = (seen) =>
  seen.failure?.reason === 'tls' && NOT_TLS.includes(codeOf(seen))
    ? `What listens at ${hostOf(seen)} does not speak TLS. If it is the service, base_url begins with http://.`
    : undefined;

/** A server that waits for TLS closes the connection, sends an alert that is no HTTP, or says 400 in plain text. */
const httpToHttps: Hint = (seen) => {
  const { failure, answer } = seen;
  const isBroken = answer === undefined && (failure?.reason === 'reset' || failure?.reason === 'not_json');
  return !isHttps(seen) && (isBroken || answer?.status === 400)
    ? `What listens at ${hostOf(seen)} may expect TLS. If it does, base_url begins with https://.`
    : undefined;
};

const unknownAuthority: Hint = (seen) =>
  UNKNOWN_AUTHORITY.test(codeOf(seen))
    ? 'The certificate was issued by an authority that is not trusted. Put the certificate of that authority (PEM) into upstream.ca_file.'
    : undefined;

const expired: Hint = (seen) =>
  codeOf(seen) === 'CERT_HAS_EXPIRED' || codeOf(seen) === 'CERT_NOT_YET_VALID'
    ? 'The certificate is not valid today: it must be renewed, unless the clock of this machine is wrong.'
    : undefined;

const otherHost: Hint = (seen) =>
  codeOf(seen) === 'ERR_TLS_CERT_ALTNAME_INVALID'
    ? `The certificate is for another host than ${hostOf(seen)}: use in base_url the name that it was issued for.`
    : undefined;

const unknownName: Hint = (seen) =>
  seen.failure?.reason === 'dns'
    ? `The name in ${hostOf(seen)} is not known to the resolver of this machine: is it spelt right in base_url?`
    : undefined;

const nobodyListens: Hint = (seen) =>
  codeOf(seen) === 'ECONNREFUSED' && seen.connection.proxy === undefined
    ? `Nothing listens at ${hostOf(seen)}: check host and port of base_url, and that the service runs.`
    : undefined;

const noConnectionInTime: Hint = ({ failure, times }) =>
  failure?.reason === 'timeout' && times.connectedMs === undefined
    ? 'No connection in time: a firewall that drops packets, or no route to that address.'
    : undefined;

const noAnswerInTime: Hint = ({ failure, times, answer }) =>
  failure?.reason === 'timeout' && times.connectedMs !== undefined && answer === undefined
    ? 'There was a connection, but no answer in time: is the service overloaded? See upstream.headers_timeout and upstream.timeout.'
    : undefined;

const noBodyInTime: Hint = ({ failure, answer }) =>
  failure?.reason === 'timeout' && answer !== undefined
    ? 'The answer began but did not end in time: if listings are that large, raise upstream.timeout or upstream.idle_timeout.'
    : undefined;

const throughProxy: Hint = (seen) =>
  seen.failure !== undefined && seen.connection.proxy !== undefined
    ? `The request went through the proxy ${seen.connection.proxy}, from http_proxy or https_proxy in the environment. To go directly, add ${new URL(seen.baseUrl).hostname} to no_proxy.`
    : undefined;

/** Mistakes that show before there is an answer. */
export const connectionHints: readonly Hint[] = [
  httpsToHttp,
  httpToHttps,
  unknownAuthority,
  expired,
  otherHost,
  unknownName,
  nobodyListens,
  noConnectionInTime,
  noAnswerInTime,
  noBodyInTime,
  throughProxy,
];
