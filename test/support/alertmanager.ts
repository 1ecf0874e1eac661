import { writeFileSync } from 'node:fs';
import { z } from 'zod';
import { Program } from './program.ts';
import { TemporaryFolder } from './temporary-folder.ts';

/** The name of the program on Debian. */
export const ALERTMANAGER = 'prometheus-alertmanager';

const alertsResponseSchema = z.array(
  z.object({
    labels: z.record(z.string(), z.string()),
    status: z.object({ state: z.enum(['unprocessed', 'active', 'suppressed']) }),
  }),
);

const groupsResponseSchema = z.array(
  z.object({ labels: z.record(z.string(), z.string()), alerts: alertsResponseSchema }),
);

/** A real Alertmanager without peers on the loopback interface, with a temporary folder. */
export class Alertmanager implements AsyncDisposable {
  /** Host and port. */
  address = '127.0.0.1:0';
  readonly #folder = new TemporaryFolder();
  #program: Program;

  private constructor(config: unknown) {
    writeFileSync(this.#folder.at('alertmanager.yml'), JSON.stringify(config));
    this.#program = this.#startProgram();
  }

  static async start(config: unknown): Promise<Alertmanager> {
    const alertmanager = new Alertmanager(config);
    await alertmanager.#waitUntilListening();
    return alertmanager;
  }

  /** Ends the process, and keeps what it has notified. */
  async stop(): Promise<void> {
    await this.#program[Symbol.asyncDispose]();
  }

  /** Starts a process at the same address after {@link stop}. */
  async startAgain(): Promise<void> {
    this.#program = this.#startProgram();
    await this.#waitUntilListening();
  }

  #startProgram(): Program {
    return new Program(ALERTMANAGER, [
      `--config.file=${this.#folder.at('alertmanager.yml')}`,
      `--storage.path=${this.#folder.at('data')}`,
      `--web.listen-address=${this.address}`,
      '--web.external-url=http://alertmanager.example.com',
      '--cluster.listen-address=',
    ]);
  }

  async #waitUntilListening(): Promise<void> {
    this.address = await this.#program.waitForOutput(/msg="Listening on" address=(\S+)/);
  }

  /** Sends firing alerts with these labels, like Prometheus. */
  async postAlerts(fetchAlerts: readonly Readonly<Record<string, string>>[]): Promise<void> {
    const response = await fetch(`http://${this.address}/api/v2/alerts`, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify(fetchAlerts.map((labels) => ({ labels }))),
    });
    if (!response.ok) throw new Error(`Expected 200, found ${response.status}: ${await response.text()}`);
  }

  /** Returns the firing alerts, including silenced ones. */
  async alerts(): Promise<z.infer<typeof alertsResponseSchema>> {
    const response = await fetch(`http://${this.address}/api/v2/alerts`);
    return alertsResponseSchema.parse(await response.json());
  }

  /** Returns the groups that notify together, with their labels. */
  async groups(): Promise<z.infer<typeof groupsResponseSchema>> {
    const response = await fetch(`http://${this.address}/api/v2/alerts/groups`);
    return groupsResponseSchema.parse(await response.json());
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.stop();
    this.#folder[Symbol.dispose]();
  }
}
