const KNOWN_SCHEMES: ReadonlySet<string> = new Set([
  'file',
  'ftp',
  'hls',
  'http',
  'https',
  'mms',
  'rtmp',
  'rtmps',
  'rtp',
  'rtsp',
  'rtsps',
  'srt',
  'tcp',
  'udp',
  'webrtc',
]);

/**
 * The protocol of an input, from its URL ("Input", `url`): `tcp_upload` for the empty one, which is the
 * service's own TCP upload; `unknown` where there is none; `other` outside a closed set. Nothing but the
 * scheme of a URL ever leaves the reader.
 */
export function protocolOf(url: string | undefined): string {
  if (url === undefined) return 'unknown';
  if (url === '') return 'tcp_upload';
  const scheme = /^([a-z][a-z0-9+.-]*):/i.exec(url)?.[1]?.toLowerCase();
  return scheme !== undefined && KNOWN_SCHEMES.has(scheme) ? scheme : 'other';
}
