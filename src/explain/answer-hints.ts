import type { Hint } from './hint.ts';

/** The first part of the path of the call: a base URL that has it in its path has too much. */
const OWN_PATH = /\/api(?:\/|$)/;

const pathOf = (url: string): string => new URL(url).pathname.replace(/\/+$/, '');

const pathTwice: Hint = ({ baseUrl, failure, answer }) =>
  failure !== undefined && answer !== undefined && OWN_PATH.test(pathOf(baseUrl))
    ? `base_url already has a part of the path: "${pathOf(baseUrl)}". The exporter adds /api/20140928/task_list itself: end base_url before /api.`
    : undefined;

const notFound: Hint = ({ baseUrl, answer }) =>
  answer?.status === 404 && !OWN_PATH.test(pathOf(baseUrl))
    ? 'There is no task_list at that address: is base_url the service itself, with the prefix that a gateway may want?'
    : undefined;

const redirect: Hint = ({ answer, baseUrl }) => {
  if (answer === undefined || answer.status < 300 || answer.status > 399) return undefined;
  const to = answer.redirectOrigin;
  const leads =
    to === undefined || to === new URL(baseUrl).origin
      ? ''
      : ` It leads to ${to}: if that is the service, make it base_url.`;
  return `The answer is a redirect, which is not followed, because its target is not what was signed.${leads}`;
};

const webPage: Hint = ({ body, answer }) =>
  body.start === 'markup' || answer?.mediaType === 'text/html'
    ? 'The answer is a web page: a login page, a load balancer, or another site than the service answers at base_url.'
    : undefined;

const emptyBody: Hint = ({ answer, body, failure }) =>
  failure?.reason === 'not_json' && answer !== undefined && body.bytes === 0 && body.compressedBytes === 0
    ? 'The answer has no body: something between here and the service may have dropped it.'
    : undefined;

const proxyWantsPassword: Hint = ({ answer }) =>
  answer?.status === 407
    ? 'The proxy wants a user name and a password: http_proxy=http://user:password@host:port.'
    : undefined;

const tooMany: Hint = ({ answer }) =>
  answer?.status === 429 || (answer?.status === 503 && answer.retryAfter)
    ? 'The service asks for fewer requests: raise poll.interval, and see whether another exporter polls the same codes.'
    : undefined;

const serverTrouble: Hint = ({ answer }) =>
  answer !== undefined && answer.status >= 500 && !(answer.status === 503 && answer.retryAfter)
    ? 'The service, or a balancer before it, is in trouble of its own: nothing in this configuration helps.'
    : undefined;

const tooLarge: Hint = ({ failure, answer }) =>
  failure?.reason === 'too_large' && answer !== undefined
    ? 'If listings are that large, raise upstream.max_response_size: memory does not grow with them.'
    : undefined;

const otherShape: Hint = ({ failure }) =>
  failure?.reason === 'bad_shape'
    ? 'The answer is JSON, but no listing: is it another service that answers, or another version of the interface?'
    : undefined;

const brokenRecords: Hint = ({ listing, failure }) =>
  failure === undefined && listing.invalid > 0
    ? 'Entries that break the interface are left out of the sums; xvs_exporter_invalid_records_total counts them.'
    : undefined;

/** Mistakes that show in the answer. */
export const answerHints: readonly Hint[] = [
  pathTwice,
  notFound,
  redirect,
  webPage,
  emptyBody,
  proxyWantsPassword,
  tooMany,
  serverTrouble,
  tooLarge,
  otherShape,
  brokenRecords,
];
