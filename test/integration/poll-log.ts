import { z } from 'zod';

const lineSchema = z.looseObject({ level: z.string(), msg: z.string(), service_code: z.string().optional() });

/** A line of the log as far as it matters here. */
export interface LogLine {
  readonly level: string;
  readonly msg: string;
  readonly serviceCode: string | undefined;
}

interface Waiting {
  readonly serviceCode: string;
  readonly count: number;
  readonly resolve: () => void;
}

/** No poll takes so long. */
const PATIENCE_MS = 30_000;

/** The log of an exporter at `debug`, in which each poll that ends is a line: whoever waits for one learns of it. */
export class PollLog {
  readonly texts: string[] = [];
  readonly lines: LogLine[] = [];
  readonly #polls = new Map<string, number>();
  readonly #waiting = new Set<Waiting>();

  write(text: string): void {
    this.texts.push(text);
    const { level, msg, service_code: serviceCode } = lineSchema.parse(JSON.parse(text));
    this.lines.push({ level, msg, serviceCode });
    if (serviceCode === undefined || !/^Poll (?:succeeded|failed)$/.test(msg)) return;
    this.#polls.set(serviceCode, this.pollsOf(serviceCode) + 1);
    for (const waiting of this.#waiting) {
      if (this.pollsOf(waiting.serviceCode) < waiting.count) continue;
      this.#waiting.delete(waiting);
      waiting.resolve();
    }
  }

  /** How many polls have ended. */
  get polls(): number {
    return [...this.#polls.values()].reduce((sum, count) => sum + count, 0);
  }

  /** How many polls of a service code have ended. */
  pollsOf(serviceCode: string): number {
    return this.#polls.get(serviceCode) ?? 0;
  }

  /** Resolves when so many polls of a service code have ended. */
  async pollsReach(serviceCode: string, count: number): Promise<void> {
    if (this.pollsOf(serviceCode) >= count) return;
    await new Promise<void>((resolve, reject) => {
      const late = setTimeout(() => {
        reject(new Error(`Expected ${count} polls of ${serviceCode}, found ${this.pollsOf(serviceCode)}`));
      }, PATIENCE_MS);
      const told = (): void => {
        clearTimeout(late);
        // What follows the line in the same poll is over then.
        setImmediate(resolve);
      };
      this.#waiting.add({ serviceCode, count, resolve: told });
    });
  }

  /** What was told of a service code at a level above `debug`, from a line on. */
  newsOf(serviceCode: string, from: number): readonly string[] {
    return this.lines
      .slice(from)
      .filter((line) => line.serviceCode === serviceCode && line.level !== 'debug')
      .map(({ level, msg }) => `${level}: ${msg}`);
  }
}
