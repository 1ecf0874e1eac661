// Writes the addresses and contacts of project.json into every file that has them.
//
//   node scripts/apply-project.mjs                 writes the files
//   node scripts/apply-project.mjs --check         writes nothing; fails if a file differs
//   node scripts/apply-project.mjs --root=FOLDER   for the project in another folder
import { readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';

const { values: options } = parseArgs({
  options: {
    check: { type: 'boolean', default: false },
    root: { type: 'string', default: fileURLToPath(new URL('..', import.meta.url)) },
  },
});
const read = (file) => readFileSync(join(options.root, file), 'utf8');
const project = JSON.parse(read('project.json'));
const [, registry, imagePath] = /^([^/]+)\/(.+)$/.exec(project.image) ?? [];
if (registry === undefined) {
  throw new Error(`Expected image in project.json to be registry/name, found ${project.image}`);
}

const CHART = 'deploy/helm/xvs-exporter';
const OVERLAY = 'deploy/kubernetes/overlays/monitoring/prometheusrule.yaml';
const TESTS = 'deploy/prometheus/tests';
const ruleFiles = [
  'deploy/prometheus/rules/alerts.yml',
  OVERLAY,
  ...readdirSync(join(options.root, TESTS)).map((name) => `${TESTS}/${name}`),
];

/** Files, and for each what precedes a value, and the value up to the end of the line or the next quote. */
const EDITS = [
  ['package.json', '"homepage": "', project.home],
  ['package.json', '"runbook": "', project.runbook],
  ['package.json', '"repository": {\n    "type": "git",\n    "url": "', `git+${project.repository}`],
  ['package.json', '"bugs": "', project.issues],
  ['Dockerfile', 'org.opencontainers.image.url="', project.home],
  ['Dockerfile', 'org.opencontainers.image.source="', project.repository],
  [`${CHART}/Chart.yaml`, '\nhome: ', project.home],
  [`${CHART}/Chart.yaml`, '\nicon: ', project.icon],
  [`${CHART}/Chart.yaml`, '\nsources:\n  - ', project.repository],
  [`${CHART}/Chart.yaml`, '\nmaintainers:\n  - name: ', project.maintainers],
  [`${CHART}/Chart.yaml`, '\n    url: ', project.home],
  [`${CHART}/values.yaml`, '\n  registry: ', registry],
  [`${CHART}/values.yaml`, '\n  repository: ', imagePath],
  [`${CHART}/values.yaml`, '\n  runbookUrl: ', project.runbook],
  ['deploy/kubernetes/base/kustomization.yaml', 'newName: ', project.image],
  ['deploy/kubernetes/README.md', 'images:\n  - name: ', project.image],
  ['.github/ISSUE_TEMPLATE/config.yml', 'url: ', `${project.home}/SECURITY.md`],
  ['SECURITY.md', 'Write to ', project.securityContact],
  ['CONTRIBUTING.md', '\nimage=', project.image],
  ['CONTRIBUTING.md', '\nidentity=', project.releaseWorkflow],
  ['CONTRIBUTING.md', '\nissuer=', project.releaseIssuer],
];

function replaceValue(text, file, before, value) {
  const start = text.indexOf(before) + before.length;
  if (start < before.length) throw new Error(`Expected ${JSON.stringify(before)} in ${file}, found none`);
  const [old] = /^[^"\n\s][^"\n]*?(?=["\n]|, not )/.exec(text.slice(start)) ?? [''];
  return text.slice(0, start) + value + text.slice(start + old.length);
}

const texts = new Map();
const edit = (file, change) => texts.set(file, change(texts.get(file) ?? read(file)));
for (const [file, before, value] of EDITS) edit(file, (text) => replaceValue(text, file, before, value));
for (const file of ruleFiles) {
  edit(file, (text) => text.replaceAll(/(?<=runbook_url: )[^\s#]*/g, () => project.runbook));
}
const LINKS = 'deploy/grafana/source/links.ts';
edit(LINKS, (text) => text.replace(/(?<=RUNBOOK_URL = ')[^']*/, () => project.runbook));
const DASHBOARDS = 'deploy/grafana/dashboards';
for (const name of readdirSync(join(options.root, DASHBOARDS))) {
  edit(`${DASHBOARDS}/${name}`, (text) =>
    text.replaceAll(/(?<="url": ")[^"#]*(?=#)/g, () => project.runbook),
  );
}
const owners = project.codeOwners.length === 0 ? '' : `* ${project.codeOwners.join(' ')}\n`;
edit('.github/CODEOWNERS', (text) => text.replaceAll(/^[^#\n].*\n/gm, '') + owners);

const changed = [...texts].filter(([file, text]) => text !== read(file));
for (const [file, text] of options.check ? [] : changed) writeFileSync(join(options.root, file), text);
for (const [file] of changed)
  console.log(options.check ? `${file} differs from project.json` : `Wrote ${file}`);
if (options.check && changed.length > 0) process.exitCode = 1;
