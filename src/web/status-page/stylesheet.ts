/** The style of all pages: system fonts; colours only beside a word or symbol with the same meaning. */
export const STYLESHEET = `:root {
  color-scheme: light dark;
  --background: #fff; --text: #1b1f24; --muted: #57606a; --border: #d8dee4; --hover: #f3f5f7;
  --link: #0a58ca; --success: #17692f; --error: #b3141d; --error-background: #fff3f2; --warning: #7d4e00; --warning-background: #fff8e5; --plot: #3f6fb0; --bar: #9db8dc;
}
@media (prefers-color-scheme: dark) {
  :root {
    --background: #14171b; --text: #dfe3e8; --muted: #9aa5b1; --border: #2d343c; --hover: #1c2127;
    --link: #82b4ff; --success: #5fce80; --error: #ff8a84; --error-background: #2a1a1b; --warning: #e9b14d; --warning-background: #29220f; --plot: #7fa9e0; --bar: #3d5a80;
  }
}
* { box-sizing: border-box; }
[hidden] { display: none !important; }
body { background: var(--background); color: var(--text); font: 0.875rem/1.4 system-ui, sans-serif; margin: 0 auto; max-width: 90rem; padding: 0.75rem 1rem 2rem; }
h1 { font-size: 1.25rem; margin: 0; overflow-wrap: anywhere; }
h2, caption { font-size: 1rem; font-weight: 600; }
a { color: var(--link); text-decoration: none; }
a:hover, nav a, footer a, p a { text-decoration: underline; }
:focus-visible { border-radius: 2px; outline: 2px solid var(--link); outline-offset: 2px; }
p { margin: 0.5rem 0; }
abbr { text-decoration: none; }
header { margin-bottom: 0.75rem; }
.summary { font-size: 1rem; margin: 0.25rem 0; }
.aside, .unknown, .list caption, footer { color: var(--muted); }
.unreachable { background: var(--error-background); border-left: 4px solid var(--error); padding: 0.5rem 0.75rem; }
summary { cursor: pointer; margin-bottom: 0.5rem; }
form { align-items: end; display: flex; flex-wrap: wrap; gap: 0.5rem 1rem; margin-bottom: 0.75rem; }
label { color: var(--muted); display: flex; flex-direction: column; font-size: 0.8125rem; }
input, select, button { background: var(--background); border: 1px solid var(--muted); border-radius: 4px; color: var(--text); font: inherit; min-height: 2rem; padding: 0.2rem 0.5rem; }
button[aria-pressed='true'] { background: var(--text); color: var(--background); }
table { border-collapse: collapse; width: 100%; }
caption { padding: 0.25rem 0; text-align: left; }
.list caption { font-size: 0.8125rem; font-weight: normal; }
th, td { padding: 0.3rem 0.6rem 0.3rem 0; text-align: left; vertical-align: middle; }
th { font-weight: 600; overflow-wrap: anywhere; }
thead th { border-bottom: 1px solid var(--muted); vertical-align: bottom; }
thead a { color: inherit; white-space: nowrap; }
tbody th { font-weight: 500; max-width: 18rem; }
.list tbody tr:first-child > *, .servers tbody tr > *, .polls tbody tr > * { border-top: 1px solid var(--border); }
.list tbody:hover, .servers tbody tr:hover { background: var(--hover); }
.number { font-variant-numeric: tabular-nums; padding-right: 0; padding-left: 0.6rem; text-align: right; white-space: nowrap; }
.hidden { clip-path: inset(50%); height: 1px; overflow: hidden; position: absolute; white-space: nowrap; width: 1px; }
.state { font-weight: 600; white-space: nowrap; }
.mark { display: inline-block; text-align: center; width: 1.1em; }
.up { --state: var(--success); } .down, .stale { --state: var(--error); } .waiting { --state: var(--muted); } .idle { --state: var(--warning); }
.state { color: var(--state); }
.labels { color: var(--muted); display: flex; flex-wrap: wrap; font-size: 0.75rem; font-weight: normal; gap: 0 0.6rem; }
.stalled { color: var(--warning); font-weight: 600; }
.condition .stalled { display: block; white-space: nowrap; }
tbody.down > tr > *:first-child, tbody.stale > tr > *:first-child, tbody.idle > tr > *:first-child { box-shadow: inset 3px 0 var(--state); padding-left: 0.6rem; }
.list .error-help td { padding-bottom: 0.6rem; padding-top: 0; }
p.error-help { background: var(--error-background); border-left: 3px solid var(--state); padding: 0.5rem 0.75rem; } p.idle { background: var(--warning-background); }
.outdated .value { color: var(--muted); font-style: italic; }
.list tbody tr:first-child > * { vertical-align: top; }
.list .plot-cell { padding-left: 1.5rem; }
.plot-cell .value { display: block; }
.plotted { align-items: flex-start; display: flex; flex-wrap: wrap; gap: 0.2rem 0.35rem; justify-content: flex-end; }
.maximum { color: var(--muted); font-size: 0.6875rem; line-height: 1; }
.plot { flex: none; height: 1.1rem; overflow: visible; width: 4.5rem; border-bottom: 1px solid var(--border); }
.plot.empty { border-color: transparent; }
.plot path { fill: none; stroke-linecap: round; stroke-width: 1.25; vector-effect: non-scaling-stroke; }
.plot .line { stroke: var(--plot); } .plot .failed { stroke: var(--error); }
.paging { display: flex; flex-wrap: wrap; gap: 1rem; margin-top: 0.75rem; }
.paging span { color: var(--muted); }
section { margin-top: 1.25rem; }
.plots { display: grid; gap: 1.25rem 2rem; grid-template-columns: repeat(auto-fit, minmax(min(13rem, 100%), 1fr)); margin: 0.5rem 0; }
.plots dt { color: var(--muted); } .plots dd { margin: 0; }
.plots .value { display: block; font-size: 1.25rem; font-variant-numeric: tabular-nums; }
.plot.large { display: block; height: 5rem; margin: 0.25rem 0; width: 100%; }
.large svg { overflow: visible; } .large path { stroke-width: 1.75; }
.large text { fill: var(--muted); font-size: 0.75rem; pointer-events: none; }
.large .middle { text-anchor: middle; } .large .end { text-anchor: end; }
.point rect { fill: transparent; } .point circle { fill: var(--plot); }
.point text { fill: var(--text); font-variant-numeric: tabular-nums; font-weight: 600; }
.point text, .point circle, .large:hover .range, .large:focus .range { visibility: hidden; }
.point:hover text, .point:hover circle, .large:focus:not(:hover) .current text, .large:focus:not(:hover) .current circle { visibility: visible; }
.times { color: var(--muted); display: flex; font-size: 0.75rem; font-variant-numeric: tabular-nums; justify-content: space-between; }
.facts { display: flex; flex-wrap: wrap; gap: 0.5rem 2rem; margin: 0.5rem 0; }
.facts dt { color: var(--muted); font-size: 0.8125rem; } .facts dd { margin: 0; overflow-wrap: anywhere; }
code { background: var(--hover); border: 1px solid var(--border); border-radius: 4px; display: block; font: 0.8125rem/1.4 ui-monospace, monospace; margin-top: 0.25rem; overflow-wrap: anywhere; padding: 0.4rem 0.6rem; user-select: all; }
.tasks tbody tr > * { border-top: 1px solid var(--border); } .tasks tbody th { max-width: none; }
h2 .aside { font-size: 0.8125rem; font-weight: normal; }
.breakdown { display: grid; gap: 0 2.5rem; grid-template-columns: repeat(auto-fit, minmax(min(15rem, 100%), 1fr)); }
.breakdown.tasks { grid-template-columns: repeat(auto-fit, minmax(min(24rem, 100%), 1fr)); }
.bars th { font-weight: normal; width: 45%; } .bars .number { width: 4rem; } .bars .bar { padding: 0 0 0 0.75rem; }
.bars svg { display: block; height: 0.7rem; width: 100%; } .bars rect { fill: var(--bar); }
.bars { position: relative; } .bars caption .aside { font-size: 0.8125rem; font-weight: normal; }
footer { border-top: 1px solid var(--border); margin-top: 1.5rem; padding-top: 0.5rem; }
footer a { margin-right: 0.75rem; }
@media (min-width: 88rem) { .plotted { flex-wrap: nowrap; } }
@media (min-width: 62.01rem) {
  .servers th:first-child { width: 30%; }
  @supports selector(::details-content) {
    .filter summary { display: none; }
    .filter::details-content { content-visibility: visible; }
  }
}
@media (max-width: 62rem) {
  .list, .list caption, .list tbody, .list tr, .servers, .servers caption, .servers tbody, .servers tr { display: block; }
  .list thead, .servers thead { clip-path: inset(50%); height: 1px; overflow: hidden; position: absolute; width: 1px; }
  .list tbody, .servers tbody tr { border-top: 1px solid var(--border); padding: 0.4rem 0; }
  .list tbody tr:first-child > *, .servers tbody tr > * { border-top: 0; }
  .list tr:first-child, .servers tbody tr { display: grid; gap: 0 0.9rem; grid-template-columns: repeat(2, minmax(0, 1fr)); }
  .servers tbody th { grid-column: 1 / -1; }
  .list th, .list td, .servers th, .servers td { max-width: none; padding: 0.15rem 0; }
  .list tr:first-child th { font-size: 1rem; }
  .list .condition { text-align: right; }
  .list td.number, .servers td.number { align-content: start; display: flex; flex-wrap: wrap; gap: 0 0.25rem; justify-content: space-between; }
  .list td.number::before, .servers td.number::before { color: var(--muted); content: attr(data-label); font-size: 0.8125rem; }
  tbody.down, tbody.stale, tbody.idle { border-left: 3px solid var(--state); padding-left: 0.6rem; }
  tbody.down > tr > *:first-child, tbody.stale > tr > *:first-child, tbody.idle > tr > *:first-child { box-shadow: none; padding-left: 0; }
  .list .plot-cell { padding-left: 0; }
  .plotted { flex: 1 0 100%; flex-direction: row-reverse; flex-wrap: nowrap; justify-content: space-between; min-width: 0; }
  .list .plot { flex: 1; height: 1rem; min-width: 0; }
  .polls .reason { display: block; }
}`;
