import { nameOf } from '../sharding/shard.ts';
import { respondText, type WebResponse } from './response.ts';
import type { ExporterView } from './view.ts';

/** The answer to a question about a service code that is not polled here. The code is not repeated to whoever sent it. */
export function notHere({ shard, otherShardOf }: ExporterView, serviceCode: string): WebResponse {
  const other = otherShardOf(serviceCode);
  if (other === undefined) return respondText(404, 'No such service code is configured.');
  return respondText(404, `Shard ${other} polls this service code; this is ${nameOf(shard)}.`);
}
