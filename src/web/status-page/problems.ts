import { NO_TRAFFIC_REMEDY, STALE_LISTING_REMEDY } from '../../poller/remedies.ts';
import type { ProcessStatus } from '../exporter-facade.ts';
import { formatSince, renderAge } from './human-units.ts';
import { html, type Content, type Markup } from './markup.ts';

const START_REMEDY = 'Start the stream, or check its encoder and the network.';
const LOSS_REMEDY =
  'Ask whether an event ended. If not, check the sources, and whether the service lists everything.';
const WAITING_REMEDY =
  'Wait three listings. If it lasts, compare ledger.max_stream_rate with what streams carry.';

/** The alerts about what the pages show, the most severe first. Critical ones page. */
export const ALERTS = {
  XvsExpectedTaskDown: ['critical', START_REMEDY],
  XvsTasksBelowExpected: ['critical', START_REMEDY],
  XvsApiDown: ['critical', STALE_LISTING_REMEDY],
  XvsExpectedTaskSlow: ['critical', 'Check the bit rate of its encoder and the network.'],
  XvsIngestStopped: ['critical', NO_TRAFFIC_REMEDY],
  XvsDeliveryBlackhole: ['critical', 'Restart or replace the server. If all have stopped, ask the service.'],
  XvsTasksDropped: ['warning', LOSS_REMEDY],
  XvsUsersDropped: ['warning', LOSS_REMEDY],
  XvsBytesImplausible: ['warning', WAITING_REMEDY],
  XvsIngestStalled: ['warning', NO_TRAFFIC_REMEDY],
  XvsTasksWithoutInput: ['warning', 'Check the encoders of these tasks and their network.'],
  XvsRenditionMissing: ['warning', 'Check the transcoding of the stream.'],
  XvsConfigReloadFailed: ['warning', 'Correct what the log names, and reload.'],
  XvsStateNotWritten: [
    'warning',
    'Check the space and the permissions at state.path. The log has the error.',
  ],
  XvsBytesNotCounted: [
    'warning',
    'Give the process more memory, or distribute the service codes over shards.',
  ],
} as const satisfies Readonly<Record<string, readonly [severity: 'critical' | 'warning', remedy: string]>>;

export interface PageProblem {
  readonly text: Content;
  readonly alert: keyof typeof ALERTS;
  /** Default: that of the alert. */
  readonly remedies?: readonly string[];
}

/** Whether the alert about the problem pages. */
export function isCritical(problem: PageProblem | undefined): boolean {
  return problem !== undefined && ALERTS[problem.alert][0] === 'critical';
}

/** Sort key, the most severe lowest. */
export function rankSeverity(problem: PageProblem | undefined): number {
  return problem === undefined ? Number.MAX_VALUE : Object.keys(ALERTS).indexOf(problem.alert);
}

/** A problem as a line of text, with links to the runbook and to the dashboard, by default of the exporter. */
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

interface ProcessProblem extends PageProblem {
  /** For the headline of the list. */
  readonly headline: string;
}

/** As in the alert `XvsBytesNotCounted`. */
const MAX_ACCOUNT_SHARE = 0.9;

/** What is wrong with the process, whatever the service does. */
export function* findProcessProblems(process: ProcessStatus): Generator<ProcessProblem> {
  const { nowMs, lastFailureMs, stateUnwrittenSinceMs, liveAccountShare } = process;
  if (lastFailureMs !== undefined) {
    const text = html`The reload ${renderAge(lastFailureMs, nowMs)} failed; the configuration before it is in
    effect.`;
    yield { headline: 'reload failed', text, alert: 'XvsConfigReloadFailed' };
  }
  if (stateUnwrittenSinceMs !== undefined) {
    const text = `The state is not written ${formatSince(stateUnwrittenSinceMs, nowMs)}. A restart would lose what is counted since.`;
    yield { headline: 'state not written', text, alert: 'XvsStateNotWritten' };
  }
  if (liveAccountShare >= MAX_ACCOUNT_SHARE) {
    const text = `${Math.round(100 * liveAccountShare)} % of the accounts are in use. Beyond them, bytes of tasks are not counted.`;
    yield { headline: 'accounts near their limit', text, alert: 'XvsBytesNotCounted' };
  }
}
