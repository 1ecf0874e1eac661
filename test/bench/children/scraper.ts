import { once } from 'node:events';
import { Agent, get, type IncomingMessage } from 'node:http';
import { setTimeout as delay } from 'node:timers/promises';
import { serveCommands } from './command-server.ts';

/** The headers of Prometheus. */
const HEADERS = {
  accept: 'application/openmetrics-text;version=1.0.0;q=0.5,text/plain;version=0.0.4;q=0.2,*/*;q=0.1',
  'accept-encoding': 'gzip',
};

/** Measures the milliseconds from the due time of a scrape to the last byte of its response. */
async function scrape(url: string, agent: Agent, dueMs: number): Promise<number> {
  const [response] = (await once(get(url, { agent, headers: HEADERS }), 'response')) as [IncomingMessage];
  if (response.statusCode !== 200) throw new Error(`Expected status 200, found ${response.statusCode}`);
  await once(response.resume(), 'end');
  return performance.now() - dueMs;
}

/** Scrapes at fixed times, even if an earlier scrape has no response yet. */
async function scrapeAll(url: string, count: number, intervalMs: number): Promise<number[]> {
  const agent = new Agent({ keepAlive: true });
  const startMs = performance.now();
  const scrapes: Promise<number>[] = [];
  for (let number = 0; number < count; number += 1) {
    const dueMs = startMs + number * intervalMs;
    await delay(Math.max(0, dueMs - performance.now()));
    scrapes.push(scrape(url, agent, dueMs));
  }
  const latenciesMs = await Promise.all(scrapes);
  agent.destroy();
  return latenciesMs;
}

const [url = '', count, intervalMs] = process.argv.slice(2);
serveCommands({
  scrape: async () => ({ latenciesMs: await scrapeAll(url, Number(count), Number(intervalMs)) }),
});
