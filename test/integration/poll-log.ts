import { z } from 'zod';
import { WAIT_LIMIT_MS } from '../support/wait-until.ts';

const lineSchema = z.looseObject({ level: z.string(), msg: z.string(), service_code: z.string().optional() });

/** The parts of a log line that tests use. */
export interface LogLine {
  readonly level: string;
  readonly msg: string;
  readonly serviceCode: string | undefined;
}

interface PollWaiter {
  readonly serviceCode: string;
  readonly count: number;
  readonly resolve: () => void;
}

/** The log of an exporter at `debug`. Each completed poll is a line, for which tests can wait. */
export class PollLog {
  readonly texts: string[] = [];
  readonly lines: LogLine[] = [];
  readonly #polls = new Map<string, number>();
  readonly #waiters = new Set<PollWaiter>();

  write(text: string): void {
    this.texts.push(text);
    const { level, msg, service_code: serviceCode } = lineSchema.parse(JSON.parse(text));
    this.lines.push({ level, msg, serviceCode });
    if (serviceCode === undefined || !/^Poll (?:succeeded|failed)$/.test(msg)) return;
    this.#polls.set(serviceCode, this.countPolls(serviceCode) + 1);
    for (const waiting of this.#waiters) {
      if (this.countPolls(waiting.serviceCode) < waiting.count) continue;
      this.#waiters.delete(waiting);
      waiting.resolve();
    }
  }

  /** Returns the number of ended polls. */
  get pollCount(): number {
    return [...this.#polls.values()].reduce((sum, count) => sum + count, 0);
  }

  /** Returns the number of ended polls of a service code. */
  countPolls(serviceCode: string): number {
    return this.#polls.get(serviceCode) ?? 0;
  }

  /** Resolves when this number of polls of a service code have ended. */
  async waitForPolls(serviceCode: string, count: number): Promise<void> {
    if (this.countPolls(serviceCode) >= count) return;
    await new Promise<void>((resolve, reject) => {
      const late = setTimeout(() => {
        reject(new Error(`Expected ${count} polls of ${serviceCode}, found ${this.countPolls(serviceCode)}`));
      }, WAIT_LIMIT_MS);
      const told = (): void => {
        clearTimeout(late);
        // The poll continues after it has logged the line.
        setImmediate(resolve);
      };
      this.#waiters.add({ serviceCode, count, resolve: told });
    });
  }

  /** Lists the lines about a service code above level `debug`, starting at line `from`. */
  listNotices(serviceCode: string, from: number): readonly string[] {
    return this.lines
      .slice(from)
      .filter((line) => line.serviceCode === serviceCode && line.level !== 'debug')
      .map(({ level, msg }) => `${level}: ${msg}`);
  }
}
