// Writes rules, their unit tests, dashboards, the configuration of Alertmanager and pages of queries with the
// names, addresses and labels of an installation.
//
//   npm run rules -- --job=live-video --runbook-url=https://wiki.example.net/alerts
//     --grafana-url=https://grafana.example.net --exporter-url=https://exporter.example.net
//     --installation-label=env --target-label=node --out=FOLDER
//
// What is not given stays as shipped. The options of labels can be repeated.
import { mkdirSync, readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';

const root = fileURLToPath(new URL('..', import.meta.url));
/** Files and folders, and their names in the folder that is written. */
const COPIED = {
  'deploy/prometheus/rules': 'rules',
  'deploy/prometheus/tests': 'tests',
  'deploy/prometheus/runbook.md': 'runbook.md',
  'deploy/grafana/dashboards': 'dashboards',
  'deploy/alertmanager/alertmanager.yml': 'alertmanager/alertmanager.yml',
  'deploy/alertmanager/templates': 'alertmanager/templates',
  'docs/questions.md': 'questions.md',
};
/** Labels of installations and targets that the rules list as shipped. */
const SHIPPED_LABELS = ['cluster', 'namespace', 'instance', 'pod', 'job'];

/** Reads the options. Throws if one is missing, unknown or wrong. */
function readOptions() {
  const text = { type: 'string' };
  const labels = { type: 'string', multiple: true, default: [] };
  const { values } = parseArgs({
    options: {
      job: text,
      'runbook-url': text,
      'grafana-url': text,
      'exporter-url': text,
      'installation-label': labels,
      'target-label': labels,
      out: text,
    },
  });
  if (values.out === undefined) throw new Error('Expected --out=FOLDER, found none');
  const listed = new Set(SHIPPED_LABELS);
  for (const option of ['installation-label', 'target-label']) {
    for (const label of values[option]) {
      if (!/^(?!__)[a-zA-Z_]\w*$/.test(label))
        throw new Error(`Expected a label name in --${option}, found ${JSON.stringify(label)}`);
      if (listed.has(label))
        throw new Error(`Expected a label that the rules do not list yet in --${option}, found ${label}`);
      listed.add(label);
    }
  }
  return values;
}

/** Lists patterns of what an installation replaces, and its values if it has one. */
function listReplacements(options) {
  const url = (name) => options[name]?.replace(/\/$/, '');
  return [
    // In selectors, in labels of unit tests, and in sentences.
    [/(?<=\bjob(?:="|: | ))xvs-exporter\b/g, options.job],
    // The jobs that the dashboards list.
    [/(?<=job=~\\")\.\*xvs\.\*/g, options.job],
    [/(?<=runbook_url: |"url": ")[^\s"#]*(?=#)/g, url('runbook-url')],
    [/(?<=dashboard_url: )https?:\/\/[^/]*/g, url('grafana-url')],
    [
      /(?<=status_url: )https?:\/\/[^/]*|(?<=")https:\/\/xvs-exporter\.example\.com(?=")/g,
      url('exporter-url'),
    ],
  ].filter(([, value]) => value !== undefined);
}

/** Lists patterns of what names the shipped labels, and what follows for the labels of an installation. */
function listAdditions(options) {
  const ofInstallation = (format) => options['installation-label'].map(format).join('');
  const listed = (label) => `, ${label}`;
  return [
    // Lists that keep labels of installations: of PromQL, then of Alertmanager.
    [/\b(?:by|on)\s?\([\w,\s]*\b(?:cluster|namespace)\b[\w,\s]*(?=\))/g, ofInstallation(listed)],
    [/\b(?:group_by|equal): \[[\w,\s]*\b(?:cluster|namespace)\b[\w,\s]*(?=\])/g, ofInstallation(listed)],
    // Lists that drop labels of targets.
    [
      /\b(?:without|ignoring)\s?\([\w,\s]*\b(?:instance|pod)\b[\w,\s]*(?=\))/g,
      options['target-label'].map(listed).join(''),
    ],
    // Queries in texts of alerts, and the labels of the alert that they select by.
    [/\bnamespace=%q/g, ofInstallation((label) => `, ${label}=%q`)],
    [/\bprintf "[^"]*" [^|}]*\$labels\.namespace\b/g, ofInstallation((label) => ` $labels.${label}`)],
    // Selectors, links and legends of dashboards.
    [/\bnamespace=~\\"\$namespace\\"/g, ofInstallation((label) => `, ${label}=~\\"$${label}\\"`)],
    [/\$\{namespace:queryparam\}/g, ofInstallation((label) => `&\${${label}:queryparam}`)],
    [/\{\{namespace\}\} \{\{cluster\}\}/g, ofInstallation((label) => ` {{${label}}}`)],
  ];
}

/** Adds a visible variable for each label after that of the namespace, with its query. */
function addVariables(text, labels) {
  const dashboard = JSON.parse(text);
  const { list } = dashboard.templating;
  const index = list.findIndex(({ name }) => name === 'namespace');
  const query = (label) => list[index].query.replace(/namespace(?=\)$)/, label);
  const variables = labels.map((name) => ({
    ...list[index],
    name,
    label: name,
    hide: 0,
    query: query(name),
    definition: query(name),
  }));
  list.splice(index + 1, 0, ...variables);
  return `${JSON.stringify(dashboard, null, 2)}\n`;
}

/** Replaces links to pages that are not written by their texts. */
function removeLinks(text) {
  return text.replaceAll(/\[([^\]]*)\]\((?!#|https?:)[^)]*\)/g, '$1');
}

function writeFiles(options) {
  const replacements = listReplacements(options);
  const additions = listAdditions(options);
  for (const [from, to] of Object.entries(COPIED)) {
    const source = join(root, from);
    for (const name of statSync(source).isDirectory() ? readdirSync(source) : ['']) {
      let text = readFileSync(join(source, name), 'utf8');
      for (const [pattern, value] of replacements) text = text.replaceAll(pattern, () => value);
      for (const [pattern, value] of additions) text = text.replaceAll(pattern, (match) => match + value);
      if (name.endsWith('.json')) text = addVariables(text, options['installation-label']);
      if (from.endsWith('.md')) text = removeLinks(text);
      const target = join(options.out, to, name);
      mkdirSync(dirname(target), { recursive: true });
      writeFileSync(target, text);
    }
  }
}

let options;
try {
  options = readOptions();
} catch (error) {
  console.error(error.message);
  process.exit(2);
}
writeFiles(options);
console.log(`Wrote rules, tests, dashboards, Alertmanager's configuration and queries to ${options.out}`);
