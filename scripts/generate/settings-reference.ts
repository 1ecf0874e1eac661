import { z } from 'zod';
import { EXIT_CODES } from '../../src/commands/help.ts';
import { SERVICE_CODE_KEYS } from '../../src/config/service-codes/schema.ts';
import {
  describeSchema,
  listSettingGroups,
  toEnvironmentName,
  toFlagName,
} from '../../src/config/settings.ts';
import type { Setting, SettingPath } from '../../src/config/settings.ts';

const HEAD = `# Settings

Every setting can be given in three ways: as a key in the file, an environment variable, or a flag. Flags override
environment variables, environment variables override the file, and the file overrides the default. An empty variable
counts as not set. Unknown keys and flags are errors. An unknown \`XVS_\` variable has no
effect: one that is close to a known name causes a warning, others do not, because Kubernetes sets
\`XVS_EXPORTER_SERVICE_HOST\` and others in every container of a namespace with a Service named \`xvs-exporter\`.

The file is YAML or JSON; \`a.b\` is the key \`b\` in the mapping \`a\`. Paths in the file are relative to its folder;
paths in variables and flags are relative to the working directory. \`XVS_SERVICE_CODES\` and \`--service-codes\` replace
the whole list in the file, including its secrets.

Durations use the syntax of Prometheus (\`500ms\`, \`15s\`, \`1h30m\`). Sizes are in bytes or have a unit (\`64KiB\`,
\`256MiB\`, \`1GiB\`; \`KB\`, \`MB\` and \`GB\` are powers of ten). Bit rates have a unit
(\`bit/s\`, \`kbit/s\`, \`Mbit/s\`, \`Gbit/s\`, \`Tbit/s\`), as in \`2.5Gbit/s\`.

The exporter reloads the file, and the files named in it, on SIGHUP, on \`POST /-/reload\` (\`web.enable_lifecycle\`) and
when they change (\`config.auto_reload\`, \`service_code_files\`). Settings of \`shard\`, \`web\`, \`metrics\`, \`ledger\`,
\`state\`, \`log\` and \`config\` require a restart; a reload applies all others. Flags and environment
variables still override the reloaded file.

Proxies are taken from \`http_proxy\`, \`https_proxy\` and \`no_proxy\`, in lower or upper case; lower case wins.
\`upstream.ca_file\` is for the service alone: for a proxy with \`https://\` whose authority Node.js does not know, set
\`NODE_EXTRA_CA_CERTS\` in the environment to the certificate of that authority.
\`no_proxy\` lists, separated by commas or spaces, hosts to ask directly: \`host\` with its subdomains, \`.domain\`, \`*.domain\`,
IP addresses, networks such as \`10.0.0.0/8\`, each with an optional \`:port\`, or \`*\` for all.
`;

/** Renders the reference of all settings, `config/reference.md`. */
export function renderSettingsReference(): string {
  const exitCodes = ['## Exit codes', '', ...formatTable(['exit code', 'meaning'], EXIT_CODES), ''].join(
    '\n',
  );
  return [HEAD, ...listSettingGroups().map(formatGroup), exitCodes].join('\n');
}

function formatGroup({ name, title, settings }: ReturnType<typeof listSettingGroups>[number]): string {
  const rows = settings.map(formatSettingRow);
  const section = [
    `## ${title}`,
    '',
    ...formatTable(['file', 'environment', 'flag', 'type', 'default', 'meaning'], rows),
    '',
  ];
  return [...section, ...(name === '' ? formatServiceCodeKeys() : [])].join('\n');
}

function formatSettingRow([path, setting]: readonly [SettingPath, Setting]): readonly string[] {
  const { doc, schema, excludedSource } = setting;
  const fallback = setting.default === undefined ? (setting.defaultText ?? '–') : formatCode(setting.default);
  return [
    excludedSource === 'file' ? '–' : formatCode(path),
    formatCode(toEnvironmentName(path)),
    excludedSource === 'flag' ? '–' : formatCode(toFlagName(path)),
    describeSchema(schema).typeName,
    fallback,
    doc,
  ];
}

function formatServiceCodeKeys(): readonly string[] {
  const rows = Object.entries(SERVICE_CODE_KEYS).map(([key, one]) => {
    const schema = one instanceof z.ZodOptional ? one.unwrap() : one;
    return [formatCode(key), describeSchema(schema).typeName, schema.description ?? ''];
  });
  return [
    'Keys of a service code, in the configuration file and in the files of `service_code_files`:',
    '',
    ...formatTable(['key', 'type', 'meaning'], rows),
    '',
  ];
}

function formatTable(head: readonly string[], rows: readonly (readonly string[])[]): readonly string[] {
  return [formatTableRow(head), formatTableRow(head.map(() => '---')), ...rows.map(formatTableRow)];
}

function formatTableRow(cells: readonly string[]): string {
  return `| ${cells.join(' | ')} |`;
}

function formatCode(text: string): string {
  return `\`${text}\``;
}
