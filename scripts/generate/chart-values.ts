import { isMap, isNode, isScalar, parseDocument, type YAMLMap } from 'yaml';

/** Marks the comment of a value as its documentation, as in helm-docs. */
const MARK = /(?:^|\n) ?-- /;
/** Longer defaults would make the table unreadable. */
const MAX_DEFAULT_LENGTH = 60;

/**
 * Renders the table of the values of a Helm chart from the comments of its `values.yaml`: a row for each documented
 * value.
 */
export function renderChartValues(valuesYaml: string): string {
  const { contents } = parseDocument(valuesYaml);
  if (!isMap(contents)) throw new Error('Expected values.yaml to be a mapping');
  const rows = listRows(contents, '');
  return ['| value | default | meaning |', '| --- | --- | --- |', ...rows, ''].join('\n');
}

function listRows(map: YAMLMap, prefix: string): readonly string[] {
  return map.items.flatMap(({ key, value }, index) => {
    if (!isScalar(key)) throw new Error(`Expected scalar keys in ${prefix}`);
    const path = `${prefix}${String(key.value)}`;
    // The parser attaches the comment above the first key of a mapping to the mapping.
    const comment = key.commentBefore ?? (index === 0 ? map.commentBefore : undefined);
    const meaning = parseMeaning(comment ?? '');
    if (meaning !== undefined) return [`| \`${path}\` | ${formatDefault(value)} | ${meaning} |`];
    if (!isMap(value)) throw new Error(`Expected a comment "# -- …" above ${path} in values.yaml`);
    return listRows(value, `${path}.`);
  });
}

function parseMeaning(comment: string): string | undefined {
  const [, ...meanings] = comment.split(MARK);
  return meanings.at(-1)?.replaceAll(/\s+/g, ' ').trim();
}

function formatDefault(value: unknown): string {
  if (!isNode(value)) throw new Error('Expected a value');
  const text = JSON.stringify(value.toJSON()).replaceAll('"', "'");
  return text.length > MAX_DEFAULT_LENGTH ? 'see [values.yaml](values.yaml)' : `\`${text}\``;
}
