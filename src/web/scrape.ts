import type { Exposition } from '../metrics/exposition.ts';
import { negotiateFormat } from '../metrics/negotiation.ts';
import type { Selection } from '../metrics/selection.ts';
import { respondCompressed } from './compression.ts';
import type { WebResponse } from './response.ts';
import type { WebRequest } from './routes.ts';
import { scrapeTimeoutMs } from './scrape-timeout.ts';
import { selectionOf } from './selection.ts';
import type { ExporterView } from './view.ts';

/** What a scrape answers. Only GET asks for polls: whoever sends HEAD does not look at what they find. */
export async function scrape(
  view: ExporterView,
  request: WebRequest,
  query: URLSearchParams,
  exposition: Exposition,
): Promise<WebResponse> {
  const { method, headers, signal } = request;
  let selection = selectionOf(query, view);
  if (method === 'GET' && !isRefusal(selection)) {
    await view.refresh({ selection, timeoutMs: scrapeTimeoutMs(headers), signal });
    // A service code can go meanwhile.
    selection = selectionOf(query, view);
  }
  if (isRefusal(selection)) return selection;
  const families = await view.collect(selection);
  signal?.throwIfAborted();
  const { format, contentType } = negotiateFormat(headers.accept);
  return await respondCompressed(exposition.renderPieces(families, format), contentType, headers, {
    Vary: 'Accept, Accept-Encoding',
  });
}

function isRefusal(selection: Selection | WebResponse): selection is WebResponse {
  return typeof selection === 'object' && 'status' in selection;
}
