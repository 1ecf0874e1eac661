import { formatShard } from '../../sharding/shard.ts';
import type { ProcessStatus } from '../exporter-facade.ts';
import { formatTimeSpan, renderAge } from './human-units.ts';
import { html, type Markup } from './markup.ts';

/** Version, uptime, configuration and shard of the process, in the footer of each page. */
export function renderProcess(
  { version, shard, uptimeMs, lastSuccessMs, lastFailureMs }: ProcessStatus,
  nowMs: number,
): Markup {
  const failure =
    lastFailureMs === undefined
      ? ''
      : html` <strong class="stalled"
          >Reload failed ${renderAge(lastFailureMs, nowMs)}; see the log.</strong
        >`;
  return html`<p id="process" data-live>
    xvs-exporter ${version}, ${formatShard(shard)}, up for ${formatTimeSpan(uptimeMs)}. Configuration loaded
    ${renderAge(lastSuccessMs, nowMs)}.${failure}
  </p>`;
}
