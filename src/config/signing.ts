import type { Format } from './format.ts';
import { accept, reject } from './format.ts';

const PLACEHOLDERS = /\{(?:path|query|timestamp)\}/g;
/** A field name: a token of RFC 9110, section 5.6.2. */
const HEADER_NAME = /^[!#$%&'*+.^_`|~0-9A-Za-z-]+$/;

/** What is signed: text with `{path}`, `{query}` and `{timestamp}`, the last at least once. */
export const signingTemplate: Format<string> = {
  name: 'template',
  parse(raw) {
    const expected = 'a template of {path}, {query} and {timestamp}';
    if (typeof raw !== 'string' || /[{}]/.test(raw.replace(PLACEHOLDERS, ''))) return reject(expected, raw);
    // Without the time in it, a signature that was seen once would be good forever.
    return raw.includes('{timestamp}') ? accept(raw) : reject(`${expected}, with {timestamp} in it`, raw);
  },
};

export const headerName: Format<string> = {
  name: 'header name',
  parse(raw) {
    const isName = typeof raw === 'string' && HEADER_NAME.test(raw);
    return isName ? accept(raw) : reject('the name of an HTTP header', raw);
  },
};
