import { randomBytes } from 'node:crypto';
import type { ServerResponse } from 'node:http';
import { Readable } from 'node:stream';
import type { TestContext } from 'node:test';
import { brotliCompressSync, constants, gzipSync } from 'node:zlib';
import { serveHttp } from '../../support/servers.ts';

const MIB = 1024 * 1024;

/** A listing of 512 MiB without an end, as half a MiB: many equal members of gzip. */
export const BOMB: Buffer = (() => {
  const user = '{"vs_id":"v","client_version":"1","device_type":"1","service_code":"HOSTILE-0"},';
  const users = gzipSync(user.repeat(Math.floor((4 * MIB) / user.length)), { level: 9 });
  const start = gzipSync('{"ret":0,"task_list":[],"user_list":[');
  return Buffer.concat([start, ...Array.from({ length: 128 }, () => users)]);
})();

const EARLY_HINTS = 'HTTP/1.1 103 Early Hints\r\n\r\n'.repeat(1000);

/** The random part is too long to be collected and decompressed at once. */
const UNFINISHED_ENTRY = `{"ret":0,"user_list":[],"task_list":[{"id":"${randomBytes(MIB / 8).toString('hex')}${'x'.repeat(16 * MIB)}`;

export type Respond = (response: ServerResponse) => void;

/** Sends a body, by default without an end. */
function send(coding: string, body: Buffer, method: 'write' | 'end' = 'write'): Respond {
  return (response) => void response.writeHead(200, { 'content-encoding': coding })[method](body);
}

/** Responses that are no listings. */
export const HOSTILE_RESPONSES = {
  expanding: send('gzip', BOMB),
  hanging: send('gzip', gzipSync(UNFINISHED_ENTRY)),
  brotli: send(
    'br',
    brotliCompressSync(UNFINISHED_ENTRY, {
      params: { [constants.BROTLI_PARAM_LGWIN]: 24, [constants.BROTLI_PARAM_QUALITY]: 5 },
    }),
  ),
  /** Small enough to be decompressed at once. */
  busy: send('gzip', gzipSync(`{"ret":0,"task_list":[],"user_list":[${'{},'.repeat(330_000)}`), 'end'),
  informational: ({ socket }: ServerResponse): void => {
    const endless = new Readable({ read: () => void endless.push(EARLY_HINTS) });
    if (socket !== null) endless.pipe(socket);
  },
};

/** Builds a gzipped listing of tasks whose ids begin with a prefix. */
export function buildTasksWithNewIds(prefix: string, count: number): Buffer {
  const tasks = Array.from({ length: count }, (_, index) => `{"id":"${prefix}-${index}","vs_id":"v"}`);
  return gzipSync(`{"ret":0,"user_list":[],"task_list":[${tasks.join(',')}]}`, { level: 1 });
}

/** Builds a gzipped listing of tasks with one name and so many input bytes each. */
export function buildNamesakesListing(name: string, count: number, inputBytes: number): Buffer {
  const tasks = Array.from(
    { length: count },
    (_, index) => `{"id":"t${index}","vs_id":"v","opaque":"${name}","input_bytes":${inputBytes}}`,
  );
  return gzipSync(`{"ret":0,"user_list":[],"task_list":[${tasks.join(',')}]}`, { level: 1 });
}

/** Builds a gzipped listing of ten tasks with 5,000 formats each. */
export function buildFormatsListing(): Buffer {
  const tasks = Array.from({ length: 10 }, (_task, number) => {
    const outputs = Array.from(
      { length: 5000 },
      (_output, index) =>
        `{"file_name":"f","format":"format-${number}-${index}","http_output_bytes":1,"http_connections_num":1,"streams":[]}`,
    );
    return `{"id":"t${number}","vs_id":"v","inputs":[],"outputs":[${outputs.join(',')}]}`;
  });
  return gzipSync(`{"ret":0,"user_list":[],"task_list":[${tasks.join(',')}]}`);
}

/** Builds a gzipped listing of tasks with 1,000 outputs each. */
export function buildOutputsListing(count: number): Buffer {
  const outputs = Array.from({ length: 1000 }, () => '{}').join(',');
  const tasks = Array.from(
    { length: count },
    (_, index) => `{"id":"t${index}","vs_id":"v","outputs":[${outputs}]}`,
  );
  return gzipSync(`{"ret":0,"user_list":[],"task_list":[${tasks.join(',')}]}`);
}

/**
 * Builds a gzipped listing with this number of users, each with a different client version that begins with a
 * prefix.
 */
export function buildVersionsListing(prefix: string, users: number): Buffer {
  const list = Array.from(
    { length: users },
    (_, index) => `{"vs_id":"v","client_version":"${prefix}-${index}","device_type":"1","user_name":"u"}`,
  );
  return gzipSync(`{"ret":0,"task_list":[],"user_list":[${list.join(',')}]}`, { level: 1 });
}

/** Builds a listing of tasks with one input and two outputs each, for a long exposition. */
export function buildTasksListing(serviceCode: string, tasks: number): string {
  const list = Array.from({ length: tasks }, (_, index) =>
    JSON.stringify({
      id: `task-${index}`,
      vs_id: 'v',
      service_code: serviceCode,
      progress: 0,
      input_bytes: 1000 + index,
      inputs: [{ url: '', service_code: serviceCode, user_name: 'u', device_type: 10, device_version: '1' }],
      outputs: ['flv', 'm3u8'].map((format) => ({
        file_name: `${index}.${format}`,
        tag: 'live',
        format,
        width: 1280,
        height: 720,
        http_output_bytes: index,
        http_connections_num: 1,
        streams: [],
      })),
    }),
  );
  return `{"ret":0,"user_list":[],"task_list":[${list.join(',')}]}`;
}

/** Starts a service with a different response for each service code, until the end of the test. */
export function serveCodes(
  t: TestContext,
  answer: (serviceCode: string, response: ServerResponse) => void,
): Promise<string> {
  return serveHttp(t, (request, response) => {
    const { searchParams } = new URL(request.url ?? '/', 'http://service');
    answer(searchParams.get('service_code') ?? '', response);
  });
}
