import { createHash } from 'node:crypto';
import type { StaticLabels } from '../../families/family.ts';
import { formatShard } from '../../sharding/shard.ts';
import type { ProcessStatus } from '../exporter-facade.ts';
import { formatMoment, formatQuantity, formatTimeSpan, renderAge } from './human-units.ts';
import { html, renderName, trusted, type Markup } from './markup.ts';
import { findProcessProblems, renderProblem } from './problems.ts';
import { REFRESH_SCRIPT } from './refresh-script.ts';
import { STYLESHEET } from './stylesheet.ts';

/** Reload interval without scripts: long enough to type a filter. */
const RELOAD_SECONDS = 30;

interface DocumentParts {
  /** The way from the page to `/`, such as `../`: a proxy may serve the exporter below a path. */
  readonly root: string;
  readonly title: string;
  /** Stays while the page refreshes itself. */
  readonly header: Markup;
  /** Announced by screen readers when it changes. */
  readonly summary: Markup | string;
  readonly main: Markup;
}

/** A whole page. The script replaces the content of the elements that have `data-live` and an id. */
export function renderDocument(
  process: ProcessStatus,
  { root, title, header, summary, main }: DocumentParts,
): string {
  // The icon has no content, so that browsers request none.
  return html`<!doctype html>
    <html lang="en">
      <head>
        <meta charset="utf-8" />
        <meta name="viewport" content="width=device-width, initial-scale=1" />
        <meta name="color-scheme" content="light dark" />
        <title>${title} · xvs-exporter</title>
        <link rel="icon" href="data:," />
        ${trusted(`<style>${STYLESHEET}</style>`)}
        <noscript><meta http-equiv="refresh" content="${RELOAD_SECONDS}" /></noscript>
      </head>
      <body>
        <header>
          ${header}
          <p id="summary" class="summary" role="status" data-live>${summary}</p>
          <div id="process-problems" data-live>
            ${[...findProcessProblems(process)].map(
              (problem) => html`<p class="problem">${renderProblem(problem, process)}</p>`,
            )}
          </div>
          <p id="unreachable" class="problem critical" role="alert" hidden>
            The exporter does not send this page, which shows old data; retrying. If this lasts, reload it.
          </p>
        </header>
        <main id="main" data-live>${main}</main>
        <footer>
          <nav aria-label="More">
            <a href="${root}${process.telemetryPath.slice(1)}">Metrics</a>
            <a href="${root}-/healthy">Healthy</a> <a href="${root}-/ready">Ready</a>
          </nav>
          <p id="process" data-live>${renderProcess(process)}</p>
          <p>
            Viewing this page does not trigger polls.
            <button type="button" id="pause" aria-pressed="false" hidden>Pause refreshing</button>
          </p>
        </footer>
        ${trusted(`<script>${REFRESH_SCRIPT}</script>`)}
      </body>
    </html> `.text;
}

/** Instead of a page, with the way back. */
export function renderNotFoundPage(process: ProcessStatus, path: string, reason: string): string {
  const root = '../'.repeat(Math.max(0, path.split('/').length - 2)) || './';
  const header = html`<nav aria-label="Back"><a href="${root}">All service codes</a></nav>
    <h1>Not found</h1>`;
  return renderDocument(process, { root, title: 'Not found', header, summary: reason, main: html`` });
}

function renderProcess(process: ProcessStatus): Markup {
  const { nowMs, version, shard, uptimeMs, lastSuccessMs, codeLosses } = process;
  const losses = codeLosses.map(({ file, codes, before, untilMs }) => {
    const until = formatMoment(untilMs, nowMs);
    return html`${renderName(file)}: ${formatQuantity(codes, 'code')}, ${before} until ${until}. `;
  });
  return html`xvs-exporter ${version}, ${formatShard(shard)}, up for ${formatTimeSpan(uptimeMs)}.
  Configuration loaded ${renderAge(lastSuccessMs, nowMs)}. ${losses}`;
}

export function renderLabels(labels: StaticLabels): Markup | undefined {
  const entries = Object.entries(labels);
  return entries.length === 0
    ? undefined
    : html`<span class="labels"
        >${entries.map(([label, value]) => html`<span>${renderName(`${label}=${value}`)}</span> `)}</span
      >`;
}

/** Allows the pages their own style and script by hash, their icon, and no other source. */
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
