import { expectedFound, type Problem } from './config-error.ts';
import { toEnvironmentName } from './settings.ts';
import type { Environment } from './sources.ts';

const ONE_DEADLINE = 'upstream.timeout is the one deadline of a poll';
const NO_NAMES = 'nothing replaces it: pages show the values of the service, as labels do';

/**
 * Settings of earlier versions by their key in the file, each with what replaces it. The text ends the error
 * `expected a known setting, found one that was removed; …`, so it starts in lower case and has no full stop.
 */
export const REMOVED_SETTINGS: ReadonlyMap<string, string> = new Map([
  ['upstream.connect_timeout', ONE_DEADLINE],
  ['upstream.headers_timeout', ONE_DEADLINE],
  ['upstream.idle_timeout', ONE_DEADLINE],
  ['display.device_types', NO_NAMES],
  ['display.client_versions', NO_NAMES],
  [
    'web.max_connections',
    'nothing replaces it: of 512 connections, idle ones of the largest client give way',
  ],
  ['web.max_connections_per_address', 'nothing replaces it: the client with the most connections gives way'],
  [
    'web.max_pending_passwords',
    'nothing replaces it: 64 passwords wait, and those of each client take turns',
  ],
  ['web.config.allow_weaker', 'nothing replaces it: restart the exporter to remove a protection'],
  [
    'upstream.max_total_response_size',
    'nothing replaces it: all responses that are being read may have 2 GiB together',
  ],
  ['state.file', 'set `state.path` to a folder; the counters of the file are not imported'],
  ['state.interval', 'nothing replaces it: with `state.path`, each good listing is written at once'],
  ['ledger.max_input_rate', 'set `ledger.max_stream_rate`, which is the rate of one stream'],
  ['ledger.max_output_rate', 'set `ledger.max_stream_rate`, which is the rate of one stream'],
  ['listing.max_tasks', 'nothing replaces it: the limit follows from the memory of the process'],
  ['listing.max_inputs_per_task', 'nothing replaces it: the limit is 1000'],
  ['listing.max_outputs_per_task', 'nothing replaces it: the limit is 1000'],
  ['listing.max_streams_per_output', 'nothing replaces it: the limit is 1000'],
  ['listing.max_entry_size', 'nothing replaces it: the limit is 16 MiB'],
]);

/** Formats the error of a removed setting. */
export function formatRemoved(replacement: string): string {
  return expectedFound('a known setting', 'one that was removed', replacement);
}

/** Finds variables of removed settings; an empty one counts as not set. */
export function findRemovedVariables(environment: Environment): readonly Problem[] {
  return [...REMOVED_SETTINGS].flatMap(([key, replacement]) => {
    const name = toEnvironmentName(key);
    const isSet = environment[name] !== undefined && environment[name] !== '';
    return isSet ? [{ location: `environment variable ${name}`, message: formatRemoved(replacement) }] : [];
  });
}
