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
const slackSchema = z.object({ attachments: z.tuple([z.object({ title: z.string(), text: z.string() })]) });
const pagerDutySchema = z.object({
  event_action: z.enum(['trigger', 'resolve']),
  payload: z.object({ summary: z.string() }),
});

/** One alert in a message. */
export interface AlertNotification extends z.infer<typeof alertSchema> {
  readonly receiver: string;
  /** Names the group that notified together. */
  readonly groupKey: string;
  /** When it arrived, on the monotonic clock. */
  readonly receivedMs: number;
}

/** A webhook message. */
export interface AlertMessage extends z.infer<typeof messageSchema> {
  readonly receivedMs: number;
}

/** What Slack shows. */
export interface SlackMessage {
  readonly title: string;
  readonly text: string;
  readonly receivedMs: number;
}

/** What PagerDuty shows. */
export interface PagerDutyEvent {
  readonly action: 'trigger' | 'resolve';
  readonly summary: string;
  readonly receivedMs: number;
}

/**
 * Starts a receiver that records what Alertmanager sends, to Slack at `/slack`, to PagerDuty at `/pagerduty`,
 * else as webhook.
 */
export async function startWebhookReceiver(t: TestContext) {
  const notifications: AlertNotification[] = [];
  const messages: AlertMessage[] = [];
  const slack: SlackMessage[] = [];
  const pagerDuty: PagerDutyEvent[] = [];
  const record = (path: string | undefined, body: unknown): void => {
    const receivedMs = performance.now();
    if (path === '/slack') {
      const [attachment] = slackSchema.parse(body).attachments;
      slack.push({ ...attachment, receivedMs });
    } else if (path === '/pagerduty') {
      const { event_action: action, payload } = pagerDutySchema.parse(body);
      pagerDuty.push({ action, summary: payload.summary, receivedMs });
    } else {
      const message = messageSchema.parse(body);
      const { receiver, groupKey, alerts } = message;
      messages.push({ ...message, receivedMs });
      notifications.push(...alerts.map((alert) => ({ receiver, groupKey, receivedMs, ...alert })));
    }
  };
  const url = await serveHttp(t, (request, response) => {
    void text(request).then((body) => {
      record(request.url, JSON.parse(body));
      response.statusCode = request.url === '/pagerduty' ? 202 : 200;
      response.end('ok');
    });
  });
  return { url, notifications, messages, slack, pagerDuty };
}
