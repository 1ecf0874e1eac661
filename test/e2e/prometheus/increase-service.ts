import { once } from 'node:events';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { TASK_LIST_PATH } from '../../../src/upstream/signing.ts';

/** Bytes that a task carried before its first listing. */
const LIFETIME_BYTES = 1e12;
/** Growth per listing. A stream carries 12.5 MB within a second. */
const LARGE_GROWTH = 10e6;
const SMALL_GROWTH = 1000;
/** Number of growing listings without the second server. */
const ABSENT_LISTINGS = 12;
/** Number of growing listings before the second server disappears. */
const ABSENT_AFTER = 2;

/** The state of a service code at one of its listings. */
interface Progress {
  /** Number of listings before this one. */
  readonly listings: number;
  /** Number of listings in which bytes grew. */
  readonly growths: number;
  /** Value of `growths` when the short tasks ended; `undefined` while they run. */
  readonly endedAfter: number | undefined;
}

const NO_PROGRESS: Progress = { listings: 0, growths: 0, endedAfter: undefined };

/** The listings of a case, and the bytes that its tasks have carried in each direction since the first listing. */
interface IncreaseCase {
  readonly listTasks: (progress: Progress) => readonly object[];
  readonly computeTruth: (progress: Progress) => number;
}

function createTask(id: string, vsId: string, bytes: number, outputBytes: number | null = bytes): object {
  const output = { format: 'flv', file_name: `${id}.flv`, http_output_bytes: outputBytes, streams: [] };
  return { id, vs_id: vsId, progress: 0, inputs: [], outputs: [output], input_bytes: bytes };
}

/** Growing listings that differ from those around them. The exporter is stopped after the fourth and after the eighth. */
const ODD_GROWTHS: readonly number[] = [2, 6, 10];

/** The case of one task, whose odd listings show other bytes. */
function createOddBytes(toOddBytes: (bytes: number) => number): IncreaseCase {
  return {
    listTasks: ({ growths }) => {
      const bytes = LIFETIME_BYTES + growths * SMALL_GROWTH;
      return [createTask('a', 'v1', ODD_GROWTHS.includes(growths) ? toOddBytes(bytes) : bytes)];
    },
    computeTruth: ({ growths }) => growths * SMALL_GROWTH,
  };
}

/** Regression cases by service code. */
const CASES: Readonly<Record<string, IncreaseCase>> = {
  DIP: createOddBytes((bytes) => bytes - SMALL_GROWTH * 1.5),
  ZERO: createOddBytes(() => 0),
  ABSURD: createOddBytes(() => Number.MAX_SAFE_INTEGER),
  /** A task flips between two servers. */
  MOVE: {
    listTasks: ({ growths }) => {
      const bytes = LIFETIME_BYTES + growths * SMALL_GROWTH;
      return [createTask('a', ODD_GROWTHS.includes(growths) ? 'v2' : 'v1', bytes)];
    },
    computeTruth: ({ growths }) => growths * SMALL_GROWTH,
  },
  /** One of two servers is missing from some listings, and returns with the lifetime value of its task. */
  PARTITION: {
    listTasks: ({ growths }) => {
      const bytes = LIFETIME_BYTES + growths * SMALL_GROWTH;
      const isAbsent = growths >= ABSENT_AFTER && growths < ABSENT_AFTER + ABSENT_LISTINGS;
      return [createTask('a', 'v1', bytes), ...(isAbsent ? [] : [createTask('b', 'v2', bytes)])];
    },
    computeTruth: ({ growths }) => 2 * growths * SMALL_GROWTH,
  },
  /** The first listing is empty; the next one has a task that started before it. */
  EMPTY: {
    listTasks: ({ listings, growths }) =>
      listings === 0 ? [] : [createTask('a', 'v1', LIFETIME_BYTES + growths * SMALL_GROWTH)],
    computeTruth: ({ growths }) => growths * SMALL_GROWTH,
  },
  /** The first listing has `null` bytes for an output that started before it. */
  NULL: {
    listTasks: ({ listings, growths }) => {
      const bytes = LIFETIME_BYTES + growths * SMALL_GROWTH;
      return [createTask('a', 'v1', bytes, listings === 0 ? null : bytes)];
    },
    computeTruth: ({ growths }) => growths * SMALL_GROWTH,
  },
  /** A task ends between a kill of the exporter and its next start: only the state has its last bytes. */
  KILLED: {
    listTasks: ({ growths, endedAfter }) => {
      const bytes = growths * LARGE_GROWTH;
      return [
        createTask('a', 'v1', bytes),
        ...(endedAfter === undefined ? [createTask('b', 'v1', bytes)] : []),
      ];
    },
    computeTruth: ({ growths, endedAfter = growths }) => (growths + endedAfter) * LARGE_GROWTH,
  },
};

export const INCREASE_CODES: readonly string[] = Object.keys(CASES);
/** Number of growing listings until the second server has returned and grown, also with restarts in between. */
export const GROWTHS_UNTIL_RETURN = ABSENT_AFTER + ABSENT_LISTINGS + 2;

/** A service that lists one case per service code. Its bytes grow with each listing, unless it is frozen. */
export class IncreaseService implements AsyncDisposable {
  isFrozen = true;
  readonly #server: Server;
  readonly #progressByCode = new Map<string, Progress>();

  private constructor(server: Server) {
    this.#server = server;
    server.on('request', (request, response) => {
      const { pathname, searchParams } = new URL(request.url ?? '', 'http://service');
      const code = searchParams.get('service_code') ?? '';
      const tasks = pathname === TASK_LIST_PATH ? this.#nextListing(code) : undefined;
      if (tasks === undefined) response.writeHead(404).end();
      else response.end(JSON.stringify({ ret: 0, user_list: [], task_list: tasks }));
    });
  }

  static async start(): Promise<IncreaseService> {
    const server = createServer().listen(0, '127.0.0.1');
    await once(server, 'listening');
    return new IncreaseService(server);
  }

  get url(): string {
    return `http://127.0.0.1:${(this.#server.address() as AddressInfo).port}`;
  }

  /** The minimum over all service codes of listings and of growing listings. */
  get progress(): Pick<Progress, 'listings' | 'growths'> {
    const all = INCREASE_CODES.map((code) => this.#getProgress(code));
    return {
      listings: Math.min(...all.map(({ listings }) => listings)),
      growths: Math.min(...all.map(({ growths }) => growths)),
    };
  }

  /** The bytes that the tasks of a service code have carried in each direction since its first listing. */
  computeTruth(code: string): number {
    return CASES[code]?.computeTruth(this.#getProgress(code)) ?? 0;
  }

  /** Ends the short tasks. */
  endTasks(): void {
    for (const [code, progress] of this.#progressByCode)
      this.#progressByCode.set(code, { ...progress, endedAfter: progress.growths });
  }

  async [Symbol.asyncDispose](): Promise<void> {
    const closed = once(this.#server, 'close');
    this.#server.close();
    this.#server.closeAllConnections();
    await closed;
  }

  #getProgress(code: string): Progress {
    return this.#progressByCode.get(code) ?? NO_PROGRESS;
  }

  #nextListing(code: string): readonly object[] | undefined {
    const last = this.#getProgress(code);
    const now = { ...last, growths: last.growths + (this.isFrozen ? 0 : 1) };
    this.#progressByCode.set(code, { ...now, listings: last.listings + 1 });
    return CASES[code]?.listTasks(now);
  }
}
