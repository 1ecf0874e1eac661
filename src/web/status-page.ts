import { createHash } from 'node:crypto';
import type { PollErrorReason } from '../upstream/errors.ts';
import type { ServiceCodeStatus } from './view.ts';

const STYLE = `:root { color-scheme: light dark; }
body { font: 1rem/1.5 system-ui, sans-serif; margin: 2rem auto; max-width: 70rem; padding: 0 1rem; }
table { border-collapse: collapse; width: 100%; }
th, td { border-bottom: 1px solid color-mix(in srgb, currentColor 25%, transparent); padding: 0.4rem 0.8rem; text-align: left; }
.number { font-variant-numeric: tabular-nums; text-align: right; }
.up { color: light-dark(#166534, #4ade80); }
.down { color: light-dark(#b91c1c, #f87171); font-weight: bold; }`;

const REASONS: Readonly<Record<PollErrorReason, string>> = {
  timeout: 'The service did not answer in time.',
  dns: 'The name of the service could not be resolved.',
  connect: 'The service could not be connected to.',
  tls: 'TLS with the service failed.',
  reset: 'The connection to the service broke.',
  http_status: 'The service answered with an HTTP error.',
  too_large: 'The listing is larger than the limit that is set.',
  not_json: 'The answer is not JSON.',
  bad_shape: 'The answer is not a listing.',
  api_error: 'The service answered with an error of its own (see xvs_ret).',
};

export interface StatusPage {
  readonly version: string;
  readonly telemetryPath: string;
  readonly isReady: boolean;
  readonly rows: readonly ServiceCodeStatus[];
}

/** The page at `/`: one row a service code, without scripts. */
export function renderStatusPage({ version, telemetryPath, isReady, rows }: StatusPage): string {
  return `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width">
<title>xvs-exporter</title>
<style>${STYLE}</style>
</head>
<body>
<h1>xvs-exporter</h1>
<p>Version ${escapeHtml(version)}, ${isReady ? 'ready' : 'not ready yet'}.</p>
<p><a href="${escapeHtml(telemetryPath)}">Metrics</a> · <a href="/-/healthy">Healthy</a> · <a href="/-/ready">Ready</a></p>
<p>The exporter polls the service on its own clock, not on a scrape: these are the last polls.</p>
<table>
<thead><tr><th>Service code</th><th>State</th><th>Last poll</th><th>Last success</th><th class="number">Tasks</th><th class="number">Users</th><th>Last error</th></tr></thead>
<tbody>
${rows.map(renderRow).join('\n')}
</tbody>
</table>
</body>
</html>
`;
}

/** The page's Content-Security-Policy: nothing but its own style, by hash. */
export function statusPagePolicy(): string {
  const hash = createHash('sha256').update(STYLE).digest('base64');
  return `default-src 'none'; style-src 'sha256-${hash}'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'`;
}

function renderRow(row: ServiceCodeStatus): string {
  const { lastPollMs, lastSuccessMs, tasks, users, lastError } = row;
  const state = row.up === undefined ? 'waiting' : row.up ? 'up' : 'down';
  return [
    `<tr><th>${escapeHtml(row.serviceCode)}</th>`,
    `<td class="${state}">${state}</td>`,
    `<td>${renderTime(lastPollMs)}</td>`,
    `<td>${renderTime(lastSuccessMs)}</td>`,
    `<td class="number">${tasks ?? '–'}</td>`,
    `<td class="number">${users ?? '–'}</td>`,
    `<td>${lastError === undefined ? '–' : escapeHtml(REASONS[lastError])}</td></tr>`,
  ].join('');
}

function renderTime(timeMs: number | undefined): string {
  if (timeMs === undefined) return '–';
  const iso = new Date(timeMs).toISOString();
  return `<time datetime="${iso}">${iso.slice(0, 19).replace('T', ' ')} UTC</time>`;
}

function escapeHtml(text: string): string {
  return text.replaceAll(/[&<>"']/g, (character) => `&#${character.charCodeAt(0)};`);
}
