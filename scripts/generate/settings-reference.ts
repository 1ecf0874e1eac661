import { settingGroups } from './groups.ts';
import type { SettingGroup } from './groups.ts';
import { environmentName, flagName } from './names.ts';
import { SERVICE_CODE_KEYS } from './service-codes.ts';
import type { Setting, SettingPath } from './settings.ts';

const HEAD = `# Settings

Every setting has three names: a key in the file, a variable in the environment, a flag. The flag wins, then the
environment, then the file, then the default. An empty variable counts as not set. Unknown keys and flags are
mistakes; unknown \`XVS_\` variables are not, because Kubernetes sets \`XVS_EXPORTER_SERVICE_HOST\` and the like in
every container next to a Service named \`xvs-exporter\`.

The file is YAML or JSON; \`a.b\` is the key \`b\` in the mapping \`a\`. Paths in it are relative to its folder, paths in
variables and flags to the working directory. \`XVS_SERVICE_CODES\` and \`--service-codes\` replace the whole list of
the file, with the secrets in it.

Durations are written as in Prometheus (\`500ms\`, \`15s\`, \`1h30m\`), sizes in bytes or with a unit (\`64KiB\`, \`256MiB\`,
\`1GiB\`; \`KB\`, \`MB\` and \`GB\` are powers of ten).

SIGHUP, \`POST /-/reload\` (\`web.enable_lifecycle\`) or a change of the files (\`config.auto_reload\`, \`service_code_files\`)
make the exporter read the file again, and the files that it names. Settings of \`web\`, \`metrics\`, \`state\`, \`log\` and
\`config\` hold until a restart all the same; all others change, and environment and flags still win over the file.

Proxies come from \`http_proxy\`, \`https_proxy\` and \`no_proxy\`, or the same in upper case; lower case wins.
`;

/** The reference of all settings, as Markdown: what \`config/reference.md\` holds. */
export function settingsReference(): string {
  return [HEAD, ...settingGroups().map(groupSection)].join('\n');
}

function groupSection({ name, title, settings }: SettingGroup): string {
  const rows = settings.map(settingRow);
  const section = [
    `## ${title}`,
    '',
    ...table(['file', 'environment', 'flag', 'type', 'default', 'meaning'], rows),
    '',
  ];
  return [...section, ...(name === '' ? serviceCodeSection() : [])].join('\n');
}

function settingRow([path, setting]: readonly [SettingPath, Setting]): readonly string[] {
  const { doc, format, notFrom } = setting;
  const fallback = setting.default === undefined ? (setting.otherwise ?? '–') : code(setting.default);
  return [
    notFrom === 'file' ? '–' : code(path),
    code(environmentName(path)),
    notFrom === 'flag' ? '–' : code(flagName(path)),
    format.name,
    fallback,
    doc,
  ];
}

function serviceCodeSection(): readonly string[] {
  const rows = Object.entries(SERVICE_CODE_KEYS).map(([key, { doc, format }]) => [
    code(key),
    format.name,
    doc,
  ]);
  return [
    'Of one service code, in the file and in the files of `service_code_files`:',
    '',
    ...table(['key', 'type', 'meaning'], rows),
    '',
  ];
}

function table(head: readonly string[], rows: readonly (readonly string[])[]): readonly string[] {
  return [tableRow(head), tableRow(head.map(() => '---')), ...rows.map(tableRow)];
}

function tableRow(cells: readonly string[]): string {
  return `| ${cells.join(' | ')} |`;
}

function code(text: string): string {
  return `\`${text}\``;
}
