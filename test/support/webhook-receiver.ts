import { once } from 'node:events';
import { createServer, type Server } from 'node:http';
import { text } from 'node:stream/consumers';
import { z } from 'zod';

const alertSchema = z.object({
  status: z.enum(['firing', 'resolved']),
  labels: z.record(z.string(), z.string()),
  annotations: z.record(z.string(), z.string()),
});
const messageSchema = z.object({ receiver: z.string(), groupKey: z.string(), alerts: z.array(alertSchema) });

/** One alert in a message. */
export interface AlertNotification extends z.infer<typeof alertSchema> {
  readonly receiver: string;
  /** Names the group that notified together. */
  readonly groupKey: string;
  /** When it arrived, on the monotonic clock. */
  readonly receivedMs: number;
}

/** A receiver of Alertmanager webhooks that records all notifications. */
export class WebhookReceiver implements AsyncDisposable {
  readonly notifications: AlertNotification[] = [];
  readonly #server: Server;

  private constructor() {
    this.#server = createServer((request, response) => {
      void text(request).then((body) => {
        const { receiver, groupKey, alerts } = messageSchema.parse(JSON.parse(body));
        const receivedMs = performance.now();
        this.notifications.push(...alerts.map((alert) => ({ receiver, groupKey, receivedMs, ...alert })));
        response.end();
      });
    });
  }

  static async start(): Promise<WebhookReceiver> {
    const receiver = new WebhookReceiver();
    await once(receiver.#server.listen(0, '127.0.0.1'), 'listening');
    return receiver;
  }

  get url(): string {
    const address = this.#server.address();
    if (address === null || typeof address === 'string') throw new TypeError('Expected a port');
    return `http://127.0.0.1:${address.port}`;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#server.closeAllConnections();
    this.#server.close();
    await once(this.#server, 'close');
  }
}
