import { ADDRESS_RESPONSE, CPU_RESPONSE } from './child-responses.ts';
import { Child } from './child.ts';
import { createExporterEnv } from './polling-process.ts';

/** A process to scrape. */
export interface ScrapeTarget extends AsyncDisposable {
  readonly url: string;
  /** Returns the CPU time of the process since its start. */
  readCpuMs(): Promise<number>;
}

/** The exporter, which polls on command. */
export interface ExporterTarget extends ScrapeTarget {
  /** Makes the next scrape differ from the last one. Returns the CPU time of the process up to then. */
  change(): Promise<number>;
}

/** Starts an exporter that polls `baseUrl` and exposes up to `tasks` tasks in per-task families. */
export async function startExporterTarget(baseUrl: string, tasks: number): Promise<ExporterTarget> {
  const env = {
    ...createExporterEnv(baseUrl),
    XVS_METRICS_PER_TASK: 'true',
    XVS_METRICS_MAX_TASKS: String(Math.max(1, tasks)),
  };
  const child = await Child.start('scraped-exporter', { env });
  const { url } = await child.sendCommand('address', ADDRESS_RESPONSE);
  return {
    url,
    change: async () => (await child.sendCommand('change', CPU_RESPONSE)).cpuMs,
    readCpuMs: () => readCpuMs(child),
    [Symbol.asyncDispose]: () => child[Symbol.asyncDispose](),
  };
}

/** Starts a program that serves the families of an exposition with prom-client. */
export async function startPromClientTarget(expositionPath: string): Promise<ScrapeTarget> {
  const child = await Child.start('prom-client-exporter', { args: [expositionPath] });
  const { url } = await child.sendCommand('address', ADDRESS_RESPONSE);
  return {
    url,
    readCpuMs: () => readCpuMs(child),
    [Symbol.asyncDispose]: () => child[Symbol.asyncDispose](),
  };
}

async function readCpuMs(child: Child): Promise<number> {
  return (await child.sendCommand('cpu', CPU_RESPONSE)).cpuMs;
}
