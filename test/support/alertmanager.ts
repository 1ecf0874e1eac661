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
  readonly address: string;
  readonly #program: Program;
  readonly #folder: TemporaryFolder;

  private constructor(program: Program, folder: TemporaryFolder, address: string) {
    this.#program = program;
    this.#folder = folder;
    this.address = address;
  }

  static async start(config: unknown): Promise<Alertmanager> {
    const folder = new TemporaryFolder();
    const path = folder.at('alertmanager.yml');
    writeFileSync(path, JSON.stringify(config));
    const program = new Program(ALERTMANAGER, [
      `--config.file=${path}`,
      `--storage.path=${folder.at('data')}`,
      '--web.listen-address=127.0.0.1:0',
      '--web.external-url=http://alertmanager.example.com',
      '--cluster.listen-address=',
    ]);
    const address = await program.waitForOutput(/msg="Listening on" address=(\S+)/);
    return new Alertmanager(program, folder, address);
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
    await this.#program[Symbol.asyncDispose]();
    this.#folder[Symbol.dispose]();
  }
}
