import {
  respondWithStatus,
  respondWithRetryAfter,
  respondEndlessly,
  respondWith,
  respondAndClose,
  injectSimulatorFault,
} from '../fault-actions.ts';
import { INTERVAL_MS } from '../rig-configuration.ts';
import type { Fault } from './fault.ts';
import { LISTING, GZIP_HEADER, GZIP_BOMB } from './listing.ts';

/** The status is not 2xx, or there is no content. */
export const STATUSES: readonly Fault[] = [
  {
    name: '503 with JSON',
    make: injectSimulatorFault({ fault: 'http_status', status: 503 }),
    reason: 'http_status',
    ret: 503,
  },
  {
    name: '500 with a page',
    make: injectSimulatorFault({ fault: 'http_status', status: 500, body: 'html' }),
    reason: 'http_status',
  },
  { name: '502 with nothing', make: respondWithStatus(502, ''), reason: 'http_status', bytes: 0 },
  {
    name: '503 with a listing',
    make: respondWithStatus(503, LISTING),
    reason: 'http_status',
    ret: 0,
    bytes: LISTING.length,
  },
  {
    name: '500 with an endless body',
    make: respondEndlessly('HTTP/1.1 500 No\r\n\r\n', Buffer.alloc(65_536, ' ')),
    reason: 'http_status',
    bytes: 65_536,
  },
  {
    name: '500 with a broken body',
    make: respondAndClose('HTTP/1.1 500 No\r\ncontent-length: 99\r\n\r\n{"ret":'),
    reason: 'http_status',
  },
  {
    name: '500 with a gzip bomb',
    make: respondWith(
      `HTTP/1.1 500 No\r\n${GZIP_HEADER}\r\ncontent-length: ${GZIP_BOMB.length}\r\n\r\n`,
      GZIP_BOMB,
    ),
    reason: 'http_status',
    bytes: 65_536,
  },
  {
    name: '404 with a page',
    make: injectSimulatorFault({ fault: 'http_status', status: 404, body: 'html' }),
    reason: 'http_status',
  },
  {
    name: '401 with JSON',
    make: injectSimulatorFault({ fault: 'http_status', status: 401 }),
    reason: 'http_status',
    ret: 401,
  },
  {
    name: '302 to elsewhere',
    make: injectSimulatorFault({ fault: 'redirect' }),
    reason: 'http_status',
    bytes: 0,
  },
  {
    name: '301 to itself',
    make: respondWithStatus(301, '', 'location: /api/20140928/task_list'),
    reason: 'http_status',
    bytes: 0,
  },
  {
    name: '304 with nothing',
    make: respondWith('HTTP/1.1 304 Not Modified\r\n\r\n'),
    reason: 'http_status',
    bytes: 0,
  },
  {
    name: '204 with nothing',
    make: respondWith('HTTP/1.1 204 No Content\r\n\r\n'),
    reason: 'not_json',
    bytes: 0,
  },
  { name: '429 without more', make: respondWithStatus(429, ''), reason: 'http_status', bytes: 0 },
  {
    name: '429 with a pause in seconds',
    make: respondWithRetryAfter(429, () => '8'),
    reason: 'http_status',
    ret: 429,
    skippedPolls: 1,
  },
  {
    name: '503 with a pause until a date',
    make: respondWithRetryAfter(503, (nowMs) => new Date(nowMs + 3 * INTERVAL_MS).toUTCString()),
    reason: 'http_status',
    ret: 503,
    skippedPolls: 2,
  },
  {
    name: '429 with a pause of an hour, which is cut to five minutes',
    make: respondWithRetryAfter(429, () => '3600'),
    reason: 'http_status',
    ret: 429,
    skippedPolls: 300_000 / INTERVAL_MS - 1,
  },
  {
    name: '429 with a pause until a date that has passed',
    make: respondWithRetryAfter(429, (nowMs) => new Date(nowMs - 60_000).toUTCString()),
    reason: 'http_status',
    ret: 429,
  },
  {
    name: '429 with an absurd pause, which is cut to five minutes',
    make: respondWithRetryAfter(429, () => '99999999999999999999'),
    reason: 'http_status',
    ret: 429,
    skippedPolls: 300_000 / INTERVAL_MS - 1,
  },
  {
    name: '429 with an invalid pause',
    make: respondWithRetryAfter(429, () => '-5 minutes, or so'),
    reason: 'http_status',
    ret: 429,
  },
];
