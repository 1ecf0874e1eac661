import { once } from 'node:events';
import { readFile } from 'node:fs/promises';
import { createServer } from 'node:http';
import { promisify } from 'node:util';
import { gzip } from 'node:zlib';
import { collectDefaultMetrics, Counter, Gauge, Histogram, register } from 'prom-client';
import { parseExposition, type ParsedFamily } from '../../support/exposition-parser.ts';
import { getCpuMs, serveCommands } from './command-server.ts';

const compress = promisify(gzip);

/** Serves the families of an exposition in text format and the default metrics with prom-client: `path`. */
async function run([path = '']: readonly string[]): Promise<void> {
  const { families } = parseExposition(await readFile(path, 'utf8'), 'text');
  for (const [name, family] of families) {
    if (!name.startsWith('process_') && !name.startsWith('nodejs_')) registerFamily(name, family);
  }
  collectDefaultMetrics();
  const server = createServer((request, response) => {
    // An error ends this process.
    void register.metrics().then(async (text) => {
      response.setHeader('Content-Type', register.contentType);
      if (request.headers['accept-encoding'] !== 'gzip') return response.end(text);
      return response.setHeader('Content-Encoding', 'gzip').end(await compress(text));
    });
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const address = server.address();
  const port = typeof address === 'object' ? address?.port : undefined;
  serveCommands({ address: () => ({ url: `http://127.0.0.1:${port}` }), cpu: getCpuMs });
}

function registerFamily(name: string, { type, help, samples }: ParsedFamily): void {
  const labelNames = Object.keys(samples[0]?.labels ?? {}).filter((label) => label !== 'le');
  const options = { name, help, labelNames };
  if (type === 'histogram') {
    const bounds = new Set(samples.map(({ labels }) => Number(labels['le'] ?? Number.NaN)));
    const histogram = new Histogram({ ...options, buckets: [...bounds].filter(Number.isFinite) });
    for (const sample of samples) {
      if (sample.name.endsWith('_sum')) histogram.observe({ ...sample.labels }, sample.value);
    }
    return;
  }
  const metric = type === 'counter' ? new Counter(options) : new Gauge(options);
  for (const { labels, value } of samples) metric.inc({ ...labels }, value);
}

await run(process.argv.slice(2));
