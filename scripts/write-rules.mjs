// Writes rules, their unit tests and dashboards with the names and addresses of an installation.
//
//   npm run rules -- --job=live-video --runbook-url=https://wiki.example.net/alerts
//     --grafana-url=https://grafana.example.net --exporter-url=https://exporter.example.net --out=FOLDER
//
// What is not given stays as shipped.
import { mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';

const { values: options } = parseArgs({
  options: Object.fromEntries(
    ['job', 'runbook-url', 'grafana-url', 'exporter-url', 'out'].map((name) => [name, { type: 'string' }]),
  ),
});
if (options.out === undefined) throw new Error('Expected --out=FOLDER, found none');

const source = fileURLToPath(new URL('../deploy', import.meta.url));
const url = (name) => options[name]?.replace(/\/$/, '');

/** Patterns of what an installation changes, and its value, if it has one. */
const EDITS = [
  // In selectors, in labels of unit tests, and in sentences.
  [/(?<=\bjob(?:="|: | ))xvs-exporter\b/g, options.job],
  // The jobs that the dashboards list.
  [/(?<=job=~\\")\.\*xvs\.\*/g, options.job],
  [/(?<=runbook_url: |"url": ")[^\s"#]*(?=#)/g, url('runbook-url')],
  [/(?<=dashboard_url: )https?:\/\/[^/]*/g, url('grafana-url')],
  [/(?<=status_url: )https?:\/\/[^/]*|(?<=")https:\/\/xvs-exporter\.example\.com(?=")/g, url('exporter-url')],
];

for (const [folder, target] of [
  ['prometheus/rules', 'rules'],
  ['prometheus/tests', 'tests'],
  ['grafana/dashboards', 'dashboards'],
]) {
  mkdirSync(join(options.out, target), { recursive: true });
  for (const name of readdirSync(join(source, folder))) {
    const text = EDITS.reduce(
      (result, [pattern, value]) => (value === undefined ? result : result.replaceAll(pattern, () => value)),
      readFileSync(join(source, folder, name), 'utf8'),
    );
    writeFileSync(join(options.out, target, name), text);
  }
}
console.log(`Wrote rules, tests and dashboards to ${options.out}`);
