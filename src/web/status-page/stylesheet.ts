/** The style of all pages: system fonts; colours only beside a word or symbol with the same meaning. */
export const STYLESHEET = `:root {
  color-scheme: light dark;
  --background: #fff; --text: #1b1f24; --muted: #57606a; --border: #d8dee4; --hover: #f3f5f7; --link: #0a58ca;
  --success: #17692f; --error: #b3141d; --warning: #7d4e00; --plot: #3f6fb0;
  --error-background: #fff3f2; --warning-background: #fff8e5;
}
@media (prefers-color-scheme: dark) {
  :root {
    --background: #14171b; --text: #dfe3e8; --muted: #9aa5b1; --border: #2d343c; --hover: #1c2127; --link: #82b4ff;
    --success: #5fce80; --error: #ff8a84; --warning: #e9b14d; --plot: #7fa9e0;
    --error-background: #2a1a1b; --warning-background: #29220f;
  }
}
* { box-sizing: border-box; }
[hidden] { display: none !important; }
body { background: var(--background); color: var(--text); font: 0.875rem/1.4 system-ui, sans-serif; margin: 0 auto; max-width: 90rem; padding: 0.75rem 1rem 2rem; }
h1 { font-size: 1.25rem; margin: 0; overflow-wrap: anywhere; }
h2, caption { font-size: 1rem; font-weight: 600; }
h2 .aside, caption .aside, .list caption { font-size: 0.8125rem; font-weight: normal; }
a { color: var(--link); }
tbody th a { text-decoration: none; }
a:hover { text-decoration: underline; }
:focus-visible { border-radius: 2px; outline: 2px solid var(--link); outline-offset: 2px; }
p { margin: 0.5rem 0; }
section { margin-top: 1.25rem; }
.summary { font-size: 1rem; margin: 0.25rem 0; }
.aside, .unknown, .list caption, .labels, .range, label, dt, footer { color: var(--muted); }
.labels, .range { font-size: 0.75rem; font-weight: normal; }
.labels span, .links a, footer a { margin-right: 0.75rem; }
.hidden { clip-path: inset(50%); height: 1px; overflow: hidden; position: absolute; white-space: nowrap; width: 1px; }
.mark { display: inline-block; text-align: center; width: 1.1em; }
.up { --state: var(--success); } .waiting { --state: var(--muted); } .idle { --state: var(--warning); } .down, .stale, .lost, .critical { --state: var(--error); }
.state { color: var(--state); font-weight: 600; white-space: nowrap; }
.warning { color: var(--warning); display: inline-block; font-weight: 600; overflow-wrap: anywhere; }
p.problem { background: var(--warning-background); border-left: 3px solid var(--warning); padding: 0.5rem 0.75rem; }
p.problem.critical { background: var(--error-background); border-color: var(--error); }
form { align-items: end; display: flex; flex-wrap: wrap; gap: 0.5rem 1rem; margin: 0.5rem 0; }
label { display: flex; flex-direction: column; font-size: 0.8125rem; }
input, button { background: var(--background); border: 1px solid var(--muted); border-radius: 4px; color: var(--text); font: inherit; min-height: 2rem; padding: 0.2rem 0.5rem; }
button[aria-pressed='true'] { background: var(--text); color: var(--background); }
table { border-collapse: collapse; width: 100%; }
caption { padding: 0.25rem 0; text-align: left; }
th, td { padding: 0.3rem 0.6rem 0.3rem 0; text-align: left; }
th { font-weight: 600; overflow-wrap: anywhere; }
thead th { border-bottom: 1px solid var(--muted); vertical-align: bottom; }
tbody th { font-weight: 500; }
tbody tr > * { border-top: 1px solid var(--border); vertical-align: top; }
.number, .value { font-variant-numeric: tabular-nums; }
.number { padding: 0.3rem 0 0.3rem 0.6rem; text-align: right; white-space: nowrap; }
.short { position: relative; } .short thead { clip-path: inset(50%); position: absolute; }
.list tbody th { max-width: 18rem; }
.list tbody:is(.down, .stale, .lost, .idle, .critical) > tr > :first-child { border-left: 3px solid var(--state); padding-left: 0.6rem; }
.problem { overflow-wrap: anywhere; }
.list .problem td { border-top: 0; padding-bottom: 0.6rem; padding-top: 0; }
.condition .warning { display: block; }
.down .value { color: var(--muted); font-style: italic; }
.value, .plotted, .expected { display: block; }
.plot { border-bottom: 1px solid var(--border); height: 1.1rem; overflow: visible; width: 6rem; }
.plots .plot { display: block; height: 4rem; width: 100%; }
.plot path { fill: none; stroke-linecap: round; stroke-width: 1.25; vector-effect: non-scaling-stroke; }
.plot .line { stroke: var(--plot); } .plot .failed { stroke: var(--error); }
.plotted .range { display: block; line-height: 1.2; }
.plots, .breakdown { display: grid; gap: 0.5rem 2rem; grid-template-columns: repeat(auto-fit, minmax(min(13rem, 100%), 1fr)); margin: 0.5rem 0; }
.breakdown { grid-template-columns: repeat(auto-fit, minmax(min(20rem, 100%), 1fr)); }
.plots .value { font-size: 1.25rem; }
.facts, .paging { display: flex; flex-wrap: wrap; gap: 0.5rem 2rem; margin: 0.5rem 0; }
dd { margin: 0; overflow-wrap: anywhere; }
code { background: var(--hover); border: 1px solid var(--border); border-radius: 4px; display: block; font: 0.8125rem/1.4 ui-monospace, monospace; margin-top: 0.25rem; overflow-wrap: anywhere; padding: 0.4rem 0.6rem; user-select: all; }
footer { border-top: 1px solid var(--border); margin-top: 1.5rem; padding-top: 0.5rem; }
@media (max-width: 62rem) {
  .wide, .wide caption, .wide tbody, .wide tr, .wide td, .wide th { display: block; }
  .wide thead { clip-path: inset(50%); height: 1px; overflow: hidden; position: absolute; width: 1px; }
  .wide tr { border-top: 1px solid var(--border); display: grid; gap: 0 0.9rem; grid-template-columns: repeat(2, minmax(0, 1fr)); padding: 0.4rem 0; }
  .wide tr > * { border-top: 0; max-width: none; padding: 0; }
  .wide .problem, .list .problem td { border: 0; display: block; padding: 0 0 0.4rem; }
  .wide tbody th, .wide .text, .wide .aside { grid-column: 1 / -1; }
  .list tbody th { font-size: 1rem; grid-column: auto; }
  .list .condition { text-align: right; }
  .wide td.number { align-content: start; display: flex; flex-wrap: wrap; gap: 0 0.25rem; justify-content: space-between; }
  .wide td.number::before { color: var(--muted); content: attr(data-label); font-size: 0.8125rem; }
  .list tbody:is(.down, .stale, .lost, .idle, .critical) { border-left: 3px solid var(--state); padding-left: 0.6rem; }
  .list tbody:is(.down, .stale, .lost, .idle, .critical) > tr > :first-child { border-left: 0; padding-left: 0; }
  .wide .plotted { flex: 1 0 100%; }
  .plot { width: 100%; }
  .plots .plot { height: 2.5rem; }
  .plots { gap: 0.5rem 1rem; grid-template-columns: repeat(2, minmax(0, 1fr)); }
  .detail { display: none; }
}`;
