import { createHash } from 'node:crypto';
import type { ProcessStatus } from '../exporter-facade.ts';
import { renderFavicon, type IconState } from './favicon.ts';
import { html, trusted, type Markup } from './markup.ts';
import { renderProcess } from './process-footer.ts';
import { REFRESH_SCRIPT } from './refresh-script.ts';
import { STYLESHEET } from './stylesheet.ts';

/** Reload interval without scripts: long enough to type a filter. */
const RELOAD_SECONDS = 30;

/** The content of every page. */
export interface PageContext {
  readonly process: ProcessStatus;
  readonly telemetryPath: string;
  /** Milliseconds since the Unix epoch. */
  readonly nowMs: number;
}

interface DocumentParts extends PageContext {
  readonly title: string;
  readonly icon: IconState;
  readonly header: Markup;
  readonly main: Markup;
  /** Whether the page refreshes itself. */
  readonly isLive: boolean;
}

const RELOAD_WITHOUT_SCRIPT = html`<noscript
  ><meta http-equiv="refresh" content="${RELOAD_SECONDS}"
/></noscript>`;

const UNREACHABLE_ALERT = html`<p id="unreachable" class="unreachable" role="alert" hidden>
  The exporter does not respond. This page shows old data; retrying.
</p>`;

const REFRESH_CONTROL = html`<p>
  Viewing this page does not trigger polls.
  <button type="button" id="pause" aria-pressed="false" hidden>Pause refreshing</button>
</p>`;

/** A whole page. The script refreshes the elements that have `data-live` and an id; it keeps the others. */
export function renderDocument(parts: DocumentParts): string {
  const { title, icon, header, main, isLive, process, nowMs, telemetryPath } = parts;
  return html`<!doctype html>
    <html lang="en">
      <head>
        <meta charset="utf-8" />
        <meta name="viewport" content="width=device-width, initial-scale=1" />
        <meta name="color-scheme" content="light dark" />
        <title>${title}</title>
        ${renderFavicon(icon)} ${trusted(`<style>${STYLESHEET}</style>`)}
        ${isLive ? RELOAD_WITHOUT_SCRIPT : ''}
      </head>
      <body>
        <header>${header} ${isLive ? UNREACHABLE_ALERT : ''}</header>
        <main>${main}</main>
        <footer>
          <nav aria-label="More">
            <a href="${telemetryPath}">Metrics</a> <a href="/-/healthy">Healthy</a>
            <a href="/-/ready">Ready</a>
          </nav>
          ${renderProcess(process, nowMs)} ${isLive ? REFRESH_CONTROL : ''}
        </footer>
        ${isLive ? trusted(`<script>${REFRESH_SCRIPT}</script>`) : ''}
      </body>
    </html> `.text;
}

/** The Content-Security-Policy of the pages: allows their own style and script by hash, their icon, and no other source. */
export function buildContentSecurityPolicy(): string {
  return [
    "default-src 'none'",
    `style-src '${computeCspHash(STYLESHEET)}'`,
    `script-src '${computeCspHash(REFRESH_SCRIPT)}'`,
    'img-src data:',
    "connect-src 'self'",
    "form-action 'self'",
    "base-uri 'none'",
    "frame-ancestors 'none'",
  ].join('; ');
}

function computeCspHash(text: string): string {
  return `sha256-${createHash('sha256').update(text).digest('base64')}`;
}
