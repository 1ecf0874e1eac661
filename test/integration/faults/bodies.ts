import { respondWithBody, formatHead, respondWith, injectSimulatorFault } from '../fault-actions.ts';
import type { Fault } from './fault.ts';
import { LISTING, LISTS, CHUNKED_HEADER, GZIP_HEADER } from './listing.ts';

const PAGE = '<!doctype html><title>Maintenance</title>';

/** The body is not a listing. */
export const BODIES: readonly Fault[] = [
  { name: 'a page', make: injectSimulatorFault({ fault: 'html' }), reason: 'not_json' },
  { name: 'an empty body', make: injectSimulatorFault({ fault: 'empty' }), reason: 'not_json', bytes: 0 },
  {
    name: 'an empty body, chunked and compressed',
    make: respondWith(formatHead(CHUNKED_HEADER, GZIP_HEADER), '0\r\n\r\n'),
    reason: 'not_json',
  },
  { name: 'nothing but white space', make: respondWithBody(' \r\n\t '), reason: 'not_json', bytes: 5 },
  { name: 'two listings', make: respondWithBody(LISTING + LISTING), reason: 'not_json', ret: 0 },
  { name: 'a byte order mark', make: respondWithBody(`\ufeff${LISTING}`), reason: 'not_json' },
  { name: 'a listing in UTF-16', make: respondWithBody(Buffer.from(LISTING, 'utf16le')), reason: 'not_json' },
  { name: 'a page whose type differs from its header', make: respondWithBody(PAGE), reason: 'not_json' },
  ...['null', 'true', '7', '"listing"', '[]', `[${LISTING}]`].map((body): Fault => ({
    name: `the body ${body}`,
    make: respondWithBody(body),
    reason: 'bad_shape',
    bytes: body.length,
  })),
  { name: 'endless nesting', make: respondWithBody('['.repeat(500_000)), reason: 'not_json' },
  {
    name: 'deep nesting instead of a listing',
    make: respondWithBody(`${'[{"a":'.repeat(50_000)}0${'}]'.repeat(50_000)}`),
    reason: 'bad_shape',
  },
  {
    name: 'a duplicate user_list',
    make: respondWithBody(`{"ret":0,"user_list":[],${LISTS}}`),
    reason: 'bad_shape',
    ret: 0,
  },
  {
    name: 'a duplicate task_list',
    make: respondWithBody(`{"ret":0,${LISTS},"task_list":[]}`),
    reason: 'bad_shape',
    ret: 0,
  },
  ...(['user_list', 'task_list'] as const).flatMap((list): Fault[] => [
    ...(['missing', 'null', 'object'] as const).map((form): Fault => ({
      name: `${list} that is ${form}`,
      make: injectSimulatorFault({ fault: 'bad_list', list, form }),
      reason: 'bad_shape',
      ret: 0,
    })),
    ...['0', '"[]"', 'false'].map((value): Fault => ({
      name: `${list} that is ${value}`,
      make: respondWithBody(`{"ret":0,${LISTS.replace(`"${list}":[]`, `"${list}":${value}`)}}`),
      reason: 'bad_shape',
      ret: 0,
    })),
  ]),
];
