import { z } from 'zod';
import { schemaMeta } from '../../src/config/schemas.ts';
import { FILE_KEYS } from '../../src/config/sources.ts';
import { SETTINGS, type Setting } from '../../src/config/settings.ts';

type JsonSchema = z.core.JSONSchema.JSONSchema;

/** Describes the configuration file as JSON Schema, for editors. */
export function renderConfigurationSchema(): object {
  const settings = new Map(FILE_KEYS.map((path) => [path, describe(SETTINGS[path])]));
  return { title: 'Configuration of xvs-exporter', ...toJsonSchema(toMapping(settings)) };
}

/** Nests the schemas of settings, by key. An empty mapping is `null`. */
function toMapping(settings: ReadonlyMap<string, z.ZodType>, prefix = ''): z.ZodType {
  const paths = [...settings.keys()].filter((path) => path.startsWith(prefix));
  const shape = paths.map((path) => {
    const [key = ''] = path.slice(prefix.length).split('.');
    return [key, (settings.get(prefix + key) ?? toMapping(settings, `${prefix}${key}.`)).optional()];
  });
  return z.strictObject(Object.fromEntries(shape)).nullable();
}

/** The same for the key `config` in the values of the chart, whose secrets come from a Secret. */
export function renderChartSchema(values: { properties: Record<string, unknown> }): object {
  const forbidSecret = (_key: string, part: unknown): unknown =>
    isMapping(part) && isMapping(part['secret']) ? { ...part, secret: false } : part;
  const schema: { readonly properties: { readonly service_codes: { readonly anyOf: readonly object[] } } } =
    JSON.parse(JSON.stringify(renderConfigurationSchema()), forbidSecret);
  const [, list] = schema.properties.service_codes.anyOf;
  const config = {
    ...schema,
    $schema: undefined,
    title: undefined,
    description: 'The configuration file. Do not put secrets into a ConfigMap.',
    type: 'object',
    required: ['service_codes'],
    properties: { ...schema.properties, service_codes: { ...list, minItems: 1 } },
  };
  return { ...values, properties: { ...values.properties, config } };
}

function isMapping(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

function describe({ doc, schema, default: text }: Setting): z.ZodType {
  return schema.describe(text === undefined ? doc : `${doc} Default: ${text}.`);
}

function toJsonSchema(schema: z.core.$ZodType): JsonSchema {
  return z.toJSONSchema(schema, {
    target: 'draft-7',
    io: 'input',
    unrepresentable: 'any',
    override: ({ zodSchema, jsonSchema }) => {
      const { def } = zodSchema._zod;
      // A list or a service code may also be written as a string.
      if (def.type === 'pipe' && def.in._zod.def.type === 'transform') {
        const { $schema: _dialect, description, ...inner } = toJsonSchema(def.out);
        replace(jsonSchema, { description, anyOf: [{ type: 'string', minLength: 1 }, inner] });
      }
      // One alternative less makes better messages.
      if (def.type === 'nullable') {
        const [inner] = jsonSchema.anyOf ?? [];
        replace(jsonSchema, { ...inner, type: ['object', 'null'] });
      }
      // The regular expressions of Helm have no lookaround.
      if (/\(\?[!<=]/.test(jsonSchema.pattern ?? '')) delete jsonSchema.pattern;
      delete jsonSchema.readOnly;
      if (jsonSchema.format === 'includes') delete jsonSchema.format;
      Object.assign(jsonSchema, schemaMeta.get(zodSchema)?.json);
    },
  });
}

function replace(target: object, source: object): void {
  for (const key of Object.keys(target)) Reflect.deleteProperty(target, key);
  Object.assign(target, source);
}
