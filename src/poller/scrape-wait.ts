/** What is left of a scrape's time for the answer and its way, as blackbox_exporter has it. */
const MARGIN_MS = 500;

/** The web server gives up a connection on which nothing has moved for a minute. */
const MAX_WAIT_MS = 50_000;

/**
 * How long a scrape waits for the polls that it asked for, by its own timeout: half of one that is hardly longer than
 * the margin. One that tells no timeout waits as long as the longest of its polls may take.
 */
export function scrapeWaitMs(scrapeTimeoutMs: number | undefined, longestPollMs: number): number {
  const waitMs =
    scrapeTimeoutMs === undefined
      ? longestPollMs
      : Math.max(scrapeTimeoutMs - MARGIN_MS, scrapeTimeoutMs / 2);
  return Math.min(waitMs, MAX_WAIT_MS);
}
