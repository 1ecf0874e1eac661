import { renderDocument, type PageContext } from './document.ts';
import { html } from './markup.ts';

/** The page of a 404; `reason` is a sentence. */
export function renderNotFoundPage(
  context: PageContext,
  reason = 'There is no page at this address.',
): string {
  return renderDocument({
    ...context,
    title: 'Not found · xvs-exporter',
    icon: 'waiting',
    isLive: false,
    header: html`<h1>Not found</h1>
      <p class="summary">${reason}</p>`,
    main: html`<p><a href="/">All service codes</a></p>`,
  });
}
