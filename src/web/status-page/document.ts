import { createHash } from 'node:crypto';
import { html, trusted, type Markup } from './markup.ts';
import { REFRESH_SCRIPT } from './refresh-script.ts';
import { STYLE } from './style.ts';

/** How often a page without scripts is loaded anew, in seconds: seldom enough to type a filter in between. */
const RELOAD_SECONDS = 30;

export interface DocumentParts {
  readonly title: string;
  readonly header: Markup;
  readonly main: Markup;
  readonly version: string;
  readonly telemetryPath: string;
}

/**
 * A whole page. What carries `data-live` and an id is brought up to date by the script; the rest stays as it was
 * loaded.
 */
export function renderDocument({ title, header, main, version, telemetryPath }: DocumentParts): string {
  return html`<!doctype html>
    <html lang="en">
      <head>
        <meta charset="utf-8" />
        <meta name="viewport" content="width=device-width, initial-scale=1" />
        <meta name="color-scheme" content="light dark" />
        <title>${title}</title>
        ${trusted(`<style>${STYLE}</style>`)}
        <noscript><meta http-equiv="refresh" content="${RELOAD_SECONDS}" /></noscript>
      </head>
      <body>
        <header>
          ${header}
          <p id="lost" class="lost" role="alert" hidden>
            No answer from the exporter: what stands here is old. Trying on.
          </p>
        </header>
        <main>${main}</main>
        <footer>
          <nav aria-label="More">
            <a href="${telemetryPath}">Metrics</a> <a href="/-/healthy">Healthy</a>
            <a href="/-/ready">Ready</a>
          </nav>
          <p>
            xvs-exporter ${version}. Looking at a page polls nothing.
            <button type="button" id="pause" aria-pressed="false" hidden>Pause refreshing</button>
          </p>
        </footer>
        ${trusted(`<script>${REFRESH_SCRIPT}</script>`)}
      </body>
    </html> `.text;
}

/** The Content-Security-Policy of the pages: their own style and script by hash, and nothing of other hosts. */
export function documentPolicy(): string {
  return [
    "default-src 'none'",
    `style-src '${hashOf(STYLE)}'`,
    `script-src '${hashOf(REFRESH_SCRIPT)}'`,
    "connect-src 'self'",
    "form-action 'self'",
    "base-uri 'none'",
    "frame-ancestors 'none'",
  ].join('; ');
}

function hashOf(text: string): string {
  return `sha256-${createHash('sha256').update(text).digest('base64')}`;
}
