import { createHash } from 'node:crypto';
import type { StaticLabels } from '../../metrics/catalogue/family.ts';
import { formatShard } from '../../sharding/shard.ts';
import type { ProcessStatus } from '../exporter-facade.ts';
import { formatSince, formatTimeSpan, renderAge } from './human-units.ts';
import { html, renderName, trusted, type Content, type Markup } from './markup.ts';
import { REFRESH_SCRIPT } from './refresh-script.ts';
import { STYLESHEET } from './stylesheet.ts';

/** Reload interval without scripts: long enough to type a filter. */
const RELOAD_SECONDS = 30;

/** As in the alert `XvsAccountsNearLimit`. */
const MAX_ACCOUNT_SHARE = 0.9;

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
          <p id="unreachable" class="problem down" role="alert" hidden>
            The exporter does not respond. This page shows old data; retrying.
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

function renderProcess(process: ProcessStatus): Markup {
  const { nowMs, version, shard, uptimeMs, lastSuccessMs, lastFailureMs, stateUnwrittenSinceMs } = process;
  const warnings: readonly Content[] = [
    lastFailureMs !== undefined && html`Reload failed ${renderAge(lastFailureMs, nowMs)}; see the log.`,
    stateUnwrittenSinceMs !== undefined &&
      `The state is not written ${formatSince(stateUnwrittenSinceMs, nowMs)}; see the log.`,
    process.liveAccountShare >= MAX_ACCOUNT_SHARE &&
      `${Math.round(100 * process.liveAccountShare)} % of the accounts are in use; beyond them, bytes of tasks are not counted.`,
  ];
  return html`xvs-exporter ${version}, ${formatShard(shard)}, up for ${formatTimeSpan(uptimeMs)}.
  Configuration loaded ${renderAge(lastSuccessMs, nowMs)}.
  ${warnings.map((text) => text && html`<strong class="warning">${text}</strong> `)}`;
}

/** As in URLs and ids. */
export function encodeServiceCode(serviceCode: string): string {
  return encodeURIComponent(serviceCode.toWellFormed());
}

export function renderLabels(labels: StaticLabels): Markup | undefined {
  const entries = Object.entries(labels);
  return entries.length === 0
    ? undefined
    : html`<span class="labels"
        >${entries.map(([label, value]) => html`<span>${renderName(`${label}=${value}`)}</span> `)}</span
      >`;
}

/** Links to the section of the runbook about an alert, and to the dashboard of a service code. */
export function renderLinks(
  { grafanaUrl, runbookUrl }: ProcessStatus,
  serviceCode: string,
  alert?: string,
): Markup {
  const code = encodeServiceCode(serviceCode);
  const runbook =
    alert && html`<a id="runbook-${alert}-${code}" href="${runbookUrl}#${alert}">Runbook: ${alert}</a>`;
  const dashboardUrl = `${grafanaUrl}/d/xvs-service-code?var-service_code=${code}`;
  const dashboard =
    grafanaUrl && html`<a id="grafana-${alert ?? 'page'}-${code}" href="${dashboardUrl}">Grafana</a>`;
  return html`<span class="links">${runbook} ${dashboard}</span>`;
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
