import { getErrorCode } from '../runtime/errors.ts';
import type { ListenAddress } from '../config/addresses.ts';
import { ConfigError, expectedFound, formatValue } from '../config/config-error.ts';
import { formatHowToSet } from '../config/settings.ts';

const FOUND: ReadonlyMap<string | undefined, string> = new Map([
  ['EADDRINUSE', 'which another process uses'],
  ['EADDRNOTAVAIL', 'which is no address of this machine'],
  ['EACCES', 'which needs more privileges'],
  ['ENOTFOUND', 'whose name is unknown'],
  ['EAI_AGAIN', 'whose name cannot be resolved'],
]);

/** Converts the error of listening on one of the addresses to a ConfigError; returns other errors unchanged. */
export function toListenError(error: unknown, addresses: readonly ListenAddress[]): unknown {
  const code = getErrorCode(error);
  const found = FOUND.get(code);
  if (found === undefined) return error;
  const shown = addresses.map(({ host, port }) => formatValue(`${host ?? ''}:${port}`)).join(', ');
  const expected = 'addresses that the exporter can listen on';
  const message = expectedFound(
    expected,
    `${shown}, ${found} (${code})`,
    formatHowToSet('web.listen_address'),
  );
  return new ConfigError([{ location: 'web.listen_address', message }]);
}
