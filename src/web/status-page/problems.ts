import { ALERT_BOUNDS } from '../../tally/alert-bounds.ts';
import type { ProcessStatus } from '../exporter-facade.ts';
import { formatSince, formatTimeSpan, renderAge } from './human-units.ts';
import { html, type Content, type Markup } from './markup.ts';

/** The alerts about what the pages show, the most severe first, with their actions. Critical ones page. */
export const ALERTS = {
  XvsExpectedTaskDown: [
    'critical',
    'Contact the owner of the stream. After the event, remove the expectation.',
  ],
  XvsTasksBelowExpected: [
    'critical',
    'Contact the owners of the streams. The page of the service code lists stalled tasks.',
  ],
  XvsApiDown: [
    'critical',
    'Set poll.stale_after above poll.interval. The service may have requested a pause (Retry-After).',
  ],
  XvsExpectedTaskSlow: ['critical', 'Check the bit rate of the encoder and its uplink.'],
  XvsIngestStopped: [
    'critical',
    'Check the entry points and load balancers of the ingest, then the servers.',
  ],
  XvsDeliveryBlackhole: [
    'critical',
    'Restart or replace the server. If every server delivers nothing, contact the operator of the service.',
  ],
  XvsUpstreamCertificateExpires: [
    'warning',
    'Contact the operator of the service, or renew upstream.ca_file or upstream.cert_file.',
  ],
  XvsCertificateExpires: ['warning', 'Renew the certificate. The exporter reads its file again by itself.'],
  XvsTasksDropped: ['warning', 'Find out whether the end was planned, and alert the owners of the streams.'],
  XvsUsersDropped: [
    'warning',
    'Look at the plot of users. If no surge has ended, check the login and the newest release of the client.',
  ],
  XvsServerDisappeared: ['warning', 'Contact the operator of the service.'],
  XvsBytesImplausible: [
    'warning',
    'Wait three listings. If it lasts, compare ledger.max_stream_rate with what streams carry.',
  ],
  XvsIngestStalled: [
    'warning',
    'Contact the owners of the streams. If many stall on one server, check the server.',
  ],
  XvsInvalidRecords: ['warning', 'Report the entries to the operator of the service.'],
  XvsTasksWithoutInput: ['warning', 'Check the publishers, or the sources that the tasks read.'],
  XvsRenditionMissing: ['warning', 'Compare the outputs with the output-format configuration.'],
  XvsConfigReloadFailed: [
    'warning',
    'Correct the file. Its mistake is in the log, and xvs-exporter --config.check prints it.',
  ],
  XvsStateNotWritten: [
    'warning',
    'Check the free space and the permissions of state.path before you restart.',
  ],
  XvsBytesNotCounted: ['warning', 'Raise --max-old-space-size with the memory limit, or add a shard.'],
} as const satisfies Readonly<Record<string, readonly [severity: 'critical' | 'warning', action: string]>>;

const SEVERITIES: readonly string[] = Object.keys(ALERTS);

export interface PageProblem {
  readonly text: Content;
  readonly alert: keyof typeof ALERTS;
  /** Default: the action of the alert. */
  readonly remedies?: readonly string[];
  /** Default: that of the alert. */
  readonly severity?: 'critical';
}

/** Whether the alert about the problem pages. */
export function isCritical(problem: PageProblem | undefined): boolean {
  return problem !== undefined && (problem.severity ?? ALERTS[problem.alert][0]) === 'critical';
}

/** Sort key, the most severe lowest. */
export function rankSeverity(problem: Pick<PageProblem, 'alert'> | undefined): number {
  return problem === undefined ? Number.MAX_VALUE : SEVERITIES.indexOf(problem.alert);
}

/**
 * A problem as a line of text, with links to the runbook and to the dashboard, by default of the exporter.
 */
export function renderProblem(
  { text, alert, remedies = [ALERTS[alert][1]] }: PageProblem,
  process: ProcessStatus,
  serviceCode?: string,
  note?: Content,
): Markup {
  return html`<strong>${text}</strong>
    ${remedies.map((remedy) => html`<span class="try">Try: ${remedy}</span> `)}
    <span class="aside">${note}</span>
    ${renderLinks(process, serviceCode, alert)}`;
}

/** As in URLs and ids. */
export function encodeServiceCode(serviceCode: string): string {
  return encodeURIComponent(serviceCode.toWellFormed());
}

/** Links to the section of the runbook about an alert, and to a dashboard. */
export function renderLinks(
  { grafanaUrl, runbookUrl }: ProcessStatus,
  serviceCode?: string,
  alert?: string,
): Markup {
  const code = encodeServiceCode(serviceCode ?? '');
  const runbook =
    alert && html`<a id="runbook-${alert}-${code}" href="${runbookUrl}#${alert}">Runbook: ${alert}</a>`;
  const dashboard = serviceCode === undefined ? 'xvs-exporter' : `xvs-service-code?var-service_code=${code}`;
  const link =
    grafanaUrl &&
    html`<a id="grafana-${alert ?? 'page'}-${code}" href="${grafanaUrl}/d/${dashboard}">Grafana</a>`;
  return html`<span class="links">${runbook} ${link}</span>`;
}

const DAY_MS = 86_400_000;

interface ProcessProblem extends PageProblem {
  /** For the headline of the list. */
  readonly headline: string;
}

/** When a certificate expires, if soon, as words, and how severe that is. */
export function findExpiry(notAfterMs: number | undefined, nowMs: number) {
  const leftMs = (notAfterMs ?? Infinity) - nowMs;
  const { certificateDays, criticalCertificateDays } = ALERT_BOUNDS;
  if (leftMs >= certificateDays * DAY_MS) return undefined;
  const text = leftMs < 0 ? `expired ${formatTimeSpan(-leftMs)} ago` : `expires in ${formatTimeSpan(leftMs)}`;
  return { text, ...(leftMs < criticalCertificateDays * DAY_MS && { severity: 'critical' as const }) };
}

/** Finds the problems of the process itself. */
export function* findProcessProblems(process: ProcessStatus): Generator<ProcessProblem> {
  const { nowMs, lastFailureMs, isStateOpen, stateUnwrittenSinceMs, liveAccountShare } = process;
  if (lastFailureMs !== undefined) {
    const text = html`The reload ${renderAge(lastFailureMs, nowMs)} failed; the configuration before it is in
    effect.`;
    yield { headline: 'reload failed', text, alert: 'XvsConfigReloadFailed' };
  }
  if (stateUnwrittenSinceMs !== undefined) {
    const text = `The state is not written ${formatSince(stateUnwrittenSinceMs, nowMs)}. A restart on a full disk ends with exit code 1, and after a kill, totals since then count twice.`;
    yield { headline: 'state not written', text, alert: 'XvsStateNotWritten' };
  }
  if (isStateOpen === false) {
    const text =
      'The folder of the state could not be used at the start: counters begin at 0 with each start.';
    yield { headline: 'no state', text, alert: 'XvsStateNotWritten' };
  }
  const web = findExpiry(process.webCertificateNotAfterMs, nowMs);
  if (web !== undefined) {
    const text = `The TLS certificate of this exporter ${web.text}.`;
    yield { ...web, headline: 'certificate expires', text, alert: 'XvsCertificateExpires' };
  }
  const client = findExpiry(process.clientCertificateNotAfterMs, nowMs);
  if (client !== undefined) {
    const text = `The certificate in upstream.cert_file ${client.text}.`;
    yield { ...client, headline: 'client certificate expires', text, alert: 'XvsUpstreamCertificateExpires' };
  }
  if (liveAccountShare >= ALERT_BOUNDS.liveAccountShare) {
    const text = `${Math.round(100 * liveAccountShare)} % of the accounts are in use. Beyond them, bytes of tasks are not counted.`;
    yield { headline: 'accounts near their limit', text, alert: 'XvsBytesNotCounted' };
  }
}
