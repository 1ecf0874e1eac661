import { z } from 'zod';
import { readableFields } from '../listing/interface.ts';
import { getTaskNameField, listKeySources, readTaskName, type TaskNameSource } from '../listing/task-name.ts';
import { MAX_EXPLAINED_LISTING_BYTES } from '../runtime/limits.ts';

const MAX_TASKS = 5;
const MAX_KEYS = 10;

/** The names of the first tasks by one value of `tasks.name`; `undefined` is no name. */
export interface NamesOfSource {
  readonly source: TaskNameSource;
  readonly names: readonly (string | undefined)[];
}

const { input, output } = readableFields;

/** A list of which an entry that is no object counts as empty. */
const listOf = <Shape extends z.ZodRawShape>(shape: Shape) =>
  z
    .array(z.object(shape).optional().catch(undefined))
    .catch([])
    .transform((entries) => entries.filter((entry) => entry !== undefined));

/** The fields that can hold names. As for the reader, an invalid one counts as missing. */
const tasksSchema = z.object({
  task_list: z
    .array(z.unknown())
    .transform((tasks) => tasks.slice(0, MAX_TASKS))
    .pipe(
      listOf({
        opaque: z.string().nullish().catch(undefined),
        inputs: listOf({ user_name: input.shape.user_name.catch(undefined) }),
        outputs: listOf({
          file_name: output.shape.file_name.catch(undefined),
          relative_dir: output.shape.relative_dir.catch(undefined),
        }),
      }),
    ),
});

type NamedTask = z.infer<typeof tasksSchema>['task_list'][number];

/** Finds the names that tasks can have. Holds the listing: the reader reads only one source of names. */
export class TaskNameFinder {
  #chunks: Buffer[] = [];
  #bytes = 0;

  addChunk(chunk: Uint8Array): void {
    this.#bytes += chunk.byteLength;
    if (this.#bytes <= MAX_EXPLAINED_LISTING_BYTES) this.#chunks.push(Buffer.from(chunk));
    else this.#chunks = [];
  }

  /** Undefined if the listing was too large to be held, or the reader alone understands it. */
  find(): readonly NamesOfSource[] | undefined {
    if (this.#bytes > MAX_EXPLAINED_LISTING_BYTES) return undefined;
    const tasks = parseTasks(Buffer.concat(this.#chunks));
    if (tasks === undefined) return undefined;
    const keys = new Set(tasks.flatMap(({ opaque }) => listKeySources(opaque ?? '')));
    const sources: readonly TaskNameSource[] = [
      'opaque',
      ...[...keys].slice(0, MAX_KEYS),
      'output.file_name',
      'output.relative_dir',
      'input.user_name',
    ];
    return sources.map((source) => ({ source, names: tasks.map((task) => findName(source, task)) }));
  }
}

/** The reader skips the values that it does not need, even if they are no JSON. */
function parseTasks(body: Buffer): readonly NamedTask[] | undefined {
  try {
    return tasksSchema.safeParse(JSON.parse(new TextDecoder().decode(body))).data?.task_list;
  } catch (error) {
    if (error instanceof SyntaxError) return undefined;
    throw error;
  }
}

/** The first name in the fields that can hold it, as a label value. */
function findName(source: TaskNameSource, { opaque, inputs, outputs }: NamedTask): string | undefined {
  const texts = {
    opaque: [opaque],
    user_name: inputs.map(({ user_name }) => user_name),
    file_name: outputs.map(({ file_name }) => file_name),
    relative_dir: outputs.map(({ relative_dir }) => relative_dir),
  }[getTaskNameField(source)];
  return texts.map((text) => readTaskName(source, text ?? '')).find((name) => name !== undefined);
}
