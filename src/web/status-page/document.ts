import { createHash } from 'node:crypto';
import { html, trusted, type Markup } from './markup.ts';
import { REFRESH_SCRIPT } from './refresh-script.ts';
import { STYLESHEET } from './stylesheet.ts';

/** Reload interval without scripts: long enough to type a filter. */
const RELOAD_SECONDS = 30;

export interface DocumentParts {
  readonly title: string;
  readonly header: Markup;
  readonly main: Markup;
  readonly version: string;
  readonly telemetryPath: string;
}

/** A whole page. The script refreshes the elements that have `data-live` and an id; it keeps the others. */
export function renderDocument({ title, header, main, version, telemetryPath }: DocumentParts): string {
  return html`<!doctype html>
    <html lang="en">
      <head>
        <meta charset="utf-8" />
        <meta name="viewport" content="width=device-width, initial-scale=1" />
        <meta name="color-scheme" content="light dark" />
        <title>${title}</title>
        ${trusted(`<style>${STYLESHEET}</style>`)}
        <noscript><meta http-equiv="refresh" content="${RELOAD_SECONDS}" /></noscript>
      </head>
      <body>
        <header>
          ${header}
          <p id="unreachable" class="unreachable" role="alert" hidden>
            The exporter does not respond. This page shows old data; retrying.
          </p>
        </header>
        <main>${main}</main>
        <footer>
          <nav aria-label="More">
            <a href="${telemetryPath}">Metrics</a> <a href="/-/healthy">Healthy</a>
            <a href="/-/ready">Ready</a>
          </nav>
          <p>
            xvs-exporter ${version}. Viewing this page does not trigger polls.
            <button type="button" id="pause" aria-pressed="false" hidden>Pause refreshing</button>
          </p>
        </footer>
        ${trusted(`<script>${REFRESH_SCRIPT}</script>`)}
      </body>
    </html> `.text;
}

/** The Content-Security-Policy of the pages: allows their own style and script by hash, and no other source. */
export function buildContentSecurityPolicy(): string {
  return [
    "default-src 'none'",
    `style-src '${computeCspHash(STYLESHEET)}'`,
    `script-src '${computeCspHash(REFRESH_SCRIPT)}'`,
    "connect-src 'self'",
    "form-action 'self'",
    "base-uri 'none'",
    "frame-ancestors 'none'",
  ].join('; ');
}

function computeCspHash(text: string): string {
  return `sha256-${createHash('sha256').update(text).digest('base64')}`;
}
