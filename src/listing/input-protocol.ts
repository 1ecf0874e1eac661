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
 * Returns the protocol of an input from its URL ("Input", `url`): the URL's scheme if it is in a closed set, else
 * `other`; `tcp_upload` for the empty string (the service's own TCP upload); `unknown` for a missing URL.
 * Nothing but the scheme of a URL leaves the reader.
 */
export function parseInputProtocol(url: string | undefined): string {
  if (url === undefined) return 'unknown';
  if (url === '') return 'tcp_upload';
  const scheme = /^([a-z][a-z0-9+.-]*):/i.exec(url)?.[1]?.toLowerCase();
  return scheme !== undefined && KNOWN_SCHEMES.has(scheme) ? scheme : 'other';
}
