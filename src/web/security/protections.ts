import type { TlsServerOptions } from './tls-options.ts';
import type { WebConfigurationFile } from './web-configuration-file.ts';

interface Protected extends Pick<WebConfigurationFile, 'users' | 'rateLimit'> {
  readonly tls: TlsServerOptions | undefined;
}

/** Lists the protections of a web configuration, in the words of its file. */
function listProtections({ tls, users, rateLimit }: Protected): readonly string[] {
  const { clientAuth, allowedSans, secureContext } = tls ?? {};
  const protections: readonly (readonly [name: string, isActive: boolean])[] = [
    ['tls_server_config', tls !== undefined],
    ['min_version', secureContext?.minVersion === 'TLSv1.3'],
    ['client_auth_type (certificate required)', clientAuth?.isRequired === true],
    ['client_auth_type (certificate verified)', clientAuth?.isVerified === true],
    // Without a CA of its own, the server would accept certificates of every CA that Node.js trusts.
    ['client_ca', clientAuth?.isVerified === true && secureContext?.ca !== undefined],
    ['client_allowed_sans', allowedSans !== undefined],
    ['basic_auth_users', users.size > 0],
    ['rate_limit', rateLimit !== undefined],
  ];
  return protections.flatMap(([name, isActive]) => (isActive ? [name] : []));
}

/** Lists the protections that `next` lacks: the file may be cut off, for example because it is being written. */
export function findRemovedProtections(current: Protected, next: Protected): readonly string[] {
  const remaining = new Set(listProtections(next));
  return listProtections(current).filter((name) => !remaining.has(name));
}
