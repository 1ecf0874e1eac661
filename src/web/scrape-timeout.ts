import type { IncomingHttpHeaders } from 'node:http';

const HEADER = 'x-prometheus-scrape-timeout-seconds';

/** How long Prometheus is going to wait for an answer, as it says with each scrape; undefined where nobody says so. */
export function scrapeTimeoutMs(headers: IncomingHttpHeaders): number | undefined {
  const text = headers[HEADER];
  if (typeof text !== 'string' || !/^\d+(?:\.\d+)?$/.test(text)) return undefined;
  const seconds = Number(text);
  return seconds > 0 ? seconds * 1000 : undefined;
}
