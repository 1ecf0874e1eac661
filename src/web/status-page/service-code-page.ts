import type { PollPoint } from '../../poller/poll-history.ts';
import type { ListingBreakdown, ServiceCodeStatus } from '../view.ts';
import { bars } from './bars.ts';
import { conditionMark, wordOf } from './conditions.ts';
import { renderDocument } from './document.ts';
import { ago, bitRate, count, shortDuration, span, utc } from './human-units.ts';
import { labelList } from './label-list.ts';
import { lastPolls } from './last-polls.ts';
import { html, name, type Markup } from './markup.ts';
import { plot, rangeOf, type PlottedFigure } from './plot.ts';
import { serverTable } from './server-table.ts';
import { trouble } from './trouble.ts';

export interface CodePage {
  readonly version: string;
  readonly telemetryPath: string;
  readonly nowMs: number;
  readonly status: ServiceCodeStatus;
  /** `undefined` where no good listing is recent enough. */
  readonly breakdown: ListingBreakdown | undefined;
}

/** The page of one service code. */
export function renderCodePage({ version, telemetryPath, nowMs, status, breakdown }: CodePage): string {
  const { serviceCode, labels, condition, history } = status;
  const points = history.points();
  const what = trouble(status, nowMs);
  return renderDocument({
    title: `${serviceCode}: ${wordOf(condition)} · xvs-exporter`,
    version,
    telemetryPath,
    header: html`<nav aria-label="Back"><a href="/">All service codes</a></nav>
      <h1>${name(serviceCode)}</h1>
      <p id="labels" data-live>${labelList(labels)}</p>
      <p id="summary" class="summary" role="status" data-live>${conditionMark(status)}</p>`,
    main: html`<div id="code" data-live>
      ${what === undefined ? '' : html`<p class="trouble">${what}</p>`}
      <p class="aside">
        Last success ${ago(status.lastSuccessMs, nowMs)}, last poll ${ago(status.lastPollMs, nowMs)}, which
        took ${shortDuration(history.latestDurationMs)}. As of ${utc(nowMs)}.
      </p>
      ${plots(status, points)}
      ${breakdown === undefined ? html`<p class="nothing">There is no good listing that is recent enough to be shown.</p>` : listing(breakdown, nowMs)}
      ${lastPolls(points, status.lastPollMs, nowMs)}
    </div>`,
  });
}

const FIGURES: readonly (readonly [PlottedFigure, string, (value: number | undefined) => Markup])[] = [
  ['users', 'Users', count],
  ['tasks', 'Tasks', count],
  ['ingress', 'Ingress', bitRate],
  ['egress', 'Egress', bitRate],
  ['connections', 'Connections', count],
];

function plots({ figures, condition }: ServiceCodeStatus, points: readonly PollPoint[]): Markup {
  const since = span(points[0]?.beforeLatestMs ?? 0);
  return html`<section aria-labelledby="lately">
    <h2 id="lately">The last ${since}</h2>
    <dl class="plots${condition === 'down' ? ' old' : ''}">
      ${FIGURES.map(([figure, title, unit]) => {
        const range = rangeOf(points, figure);
        return html`<div>
          <dt>${title}</dt>
          <dd>
            <span class="value">${unit(figures?.[figure])}</span>${plot(points, figure, 'plot large')}<span
              class="aside"
              >${range === undefined ? 'nothing known' : html`${unit(range.least)} to ${unit(range.most)}`}</span
            >
          </dd>
        </div> `;
      })}
    </dl>
  </section>`;
}

function listing(breakdown: ListingBreakdown, nowMs: number): Markup {
  const unmetered = 'HLS (m3u8) is not metered by the service';
  return html`${serverTable(breakdown.servers, nowMs)}
    <div class="breakdown">
      ${bars('Outputs by format', breakdown.outputsByFormat)}
      ${bars('Connections by format', breakdown.connectionsByFormat, unmetered)}
      ${bars('Users by client version', breakdown.usersByClientVersion)}
      ${bars('Users by device type', breakdown.usersByDeviceType)}
      ${bars('Inputs by protocol', breakdown.inputsByProtocol)}
    </div>`;
}
