import { text } from 'node:stream/consumers';
import type { TestContext } from 'node:test';
import { z } from 'zod';
import { serveHttp } from './servers.ts';

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

/** Starts a receiver of Alertmanager webhooks that records all notifications. */
export async function startWebhookReceiver(t: TestContext) {
  const notifications: AlertNotification[] = [];
  const url = await serveHttp(t, (request, response) => {
    void text(request).then((body) => {
      const { receiver, groupKey, alerts } = messageSchema.parse(JSON.parse(body));
      const receivedMs = performance.now();
      notifications.push(...alerts.map((alert) => ({ receiver, groupKey, receivedMs, ...alert })));
      response.end();
    });
  });
  return { url, notifications };
}
