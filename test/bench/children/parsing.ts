import { request } from 'undici';
import { servePollCommands } from './poll-commands.ts';

interface Listing {
  readonly user_list: readonly { readonly client_version: string; readonly device_type: string }[];
  readonly task_list: readonly {
    readonly input_bytes: number;
    readonly outputs: readonly { readonly http_output_bytes: number }[];
  }[];
}

/** Parses the whole text and counts in a loop. */
async function parse(url: string): Promise<void> {
  const { body } = await request(url);
  const listing = JSON.parse(await body.text()) as Listing;
  const users = new Map<string, number>();
  let bytes = 0;
  for (const { client_version: version, device_type: device } of listing.user_list) {
    const key = `${version} ${device}`;
    users.set(key, (users.get(key) ?? 0) + 1);
  }
  for (const { input_bytes: input, outputs } of listing.task_list) {
    bytes += input;
    for (const output of outputs) bytes += output.http_output_bytes;
  }
  if (users.size === 0 || bytes === 0) throw new Error('Expected users and tasks, found none');
}

servePollCommands(parse);
