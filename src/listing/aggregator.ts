import type { ColumnReader } from '../json-columns/column-reader.ts';
import { bitOf } from '../json-columns/fields.ts';
import type { LabelNames } from '../json-columns/label-names.ts';
import { FAMILIES, FAMILY_NAMES, type FamilyName, LOOP_PLACES, type Place, type Sums } from './families.ts';
import { COPY_ID, sanitizeLabelValue, toCodecType, toMode, VIDEO_ID } from './label-values.ts';
import { recordOf } from '../runtime/record-of.ts';
import type { Listing, OutputReading, SurplusCount } from './listing.ts';
import { countInputs, readOutput, sortParts, TaskReadings, type TaskRows } from './task-readings.ts';
import { PictureSizes } from './picture-sizes.ts';
import type { ReaderLimits } from './reader-limits.ts';
import { Rejections } from './rejections.ts';
import { SumTable, type SumTableKey } from './sum-table.ts';
import {
  type Inputs,
  type Outputs,
  type Streams,
  type TaskListTable,
  type Tasks,
  type Users,
} from './task-list.ts';

/** Value of a field of the kind `match` that is present and another text. */
const OTHER_TEXT = 2;

const CONNECTION_THRESHOLDS = [1, 10, 100, 1000, 10_000];

/* The type checker names a sum that is missing here, the linter one that no loop adds to. */
const {
  onlineUsers: ONLINE_USERS,
  serverOnlineUsers: SERVER_ONLINE_USERS,
  tasks: TASKS,
  tasksWithProgress: TASKS_WITH_PROGRESS,
  tasksMerging: TASKS_MERGING,
  transcodedPixels: TRANSCODED_PIXELS,
  tasksByHttpConnections: TASKS_BY_HTTP_CONNECTIONS,
  inputs: INPUTS,
  inputClients: INPUT_CLIENTS,
  outputs: OUTPUTS,
  httpConnections: HTTP_CONNECTIONS,
  outputsUnwatched: OUTPUTS_UNWATCHED,
  outputRenditions: OUTPUT_RENDITIONS,
  renditionHttpConnections: RENDITION_HTTP_CONNECTIONS,
  outputTags: OUTPUT_TAGS,
  streams: STREAMS,
  streamCodecs: STREAM_CODECS,
  streamBitRate: STREAM_BIT_RATE,
  ...MISSING_SUMS
} = LOOP_PLACES;
MISSING_SUMS satisfies Readonly<Record<string, never>>;

/** Adds up the columns of a listing: everything that a `task_list` response means. */
export class Aggregator {
  users = 0;
  taskCount = 0;
  readonly rejections: Rejections;
  readonly #reader: ColumnReader;
  readonly #table: TaskListTable;
  readonly #names: LabelNames;
  readonly #sums: { readonly [F in FamilyName]: SumTable<Place<F>> };
  readonly #sizes: PictureSizes;
  readonly #deviceVersion: number;
  readonly #users: Users;
  readonly #tasks: Tasks;
  readonly #inputs: Inputs;
  readonly #outputs: Outputs;
  readonly #streams: Streams;
  readonly #readings: TaskReadings;
  readonly #foreign = { user: 0, task: 0 };
  readonly #surplus = { input: 0, output: 0, stream: 0 };
  /** Tasks with at least as many connections, by threshold. */
  readonly #audience = CONNECTION_THRESHOLDS.map(() => 0);

  constructor(
    reader: ColumnReader,
    table: TaskListTable,
    names: LabelNames,
    limits: ReaderLimits,
    key: SumTableKey,
  ) {
    this.#reader = reader;
    this.#table = table;
    this.#names = names;
    this.#readings = new TaskReadings(reader, table, names, limits.maxAccounts);
    this.#sums = recordOf(FAMILY_NAMES, (family) => new SumTable(FAMILIES[family], limits.maxLabelSets, key));
    this.#sizes = new PictureSizes(names, limits.maxLabelSets, key);
    this.rejections = new Rejections(reader, table);
    this.#deviceVersion = bitOf(table.input, 'device_version');
    this.#users = reader.columnsOf(table.user);
    this.#tasks = reader.columnsOf(table.task);
    this.#inputs = reader.columnsOf(table.input);
    this.#outputs = reader.columnsOf(table.output);
    this.#streams = reader.columnsOf(table.stream);
  }

  begin(...options: Parameters<TaskReadings['begin']>): void {
    this.#readings.begin(...options);
    for (const table of Object.values(this.#sums)) table.clear();
    this.#sizes.clear();
    this.rejections.clear();
    this.users = 0;
    this.taskCount = 0;
    Object.assign(this.#foreign, { user: 0, task: 0 });
    Object.assign(this.#surplus, { input: 0, output: 0, stream: 0 });
    this.#audience.fill(0);
  }

  /** Releases the tasks of the last listing. */
  release(): void {
    this.#readings.release();
  }

  takeBatch(): void {
    if (this.#users.rows > 0) this.#addUsers(this.#users);
    if (this.#tasks.rows > 0) this.#addTasks(this.#tasks);
  }

  finish(): Listing {
    const { audience } = this.#sums;
    for (const [index, threshold] of CONNECTION_THRESHOLDS.entries())
      audience.addAt(
        audience.findOne(this.#names.getId(String(threshold))),
        TASKS_BY_HTTP_CONNECTIONS,
        this.#audience[index] ?? 0,
      );
    return {
      users: this.users,
      taskCount: this.taskCount,
      tasks: this.#readings.finish(),
      sums: this.#listSums(),
      invalidRecords: this.rejections.listRecords(),
      invalidFields: this.rejections.listFields(),
      foreignRecords: (['user', 'task'] as const)
        .map((record) => ({ record, count: this.#foreign[record] }))
        .filter(isPositive),
      surplus: this.#listSurplus(),
      firstRejected: this.rejections.listFirst(),
    };
  }

  #addUsers({ rows, vs_id, service_code, client_version, device_type }: Users): void {
    const { users, userServers } = this.#sums;
    for (let row = 0; row < rows; row += 1) {
      users.addAt(users.find(client_version[row] ?? 0, device_type[row] ?? 0, 0), ONLINE_USERS, 1);
      userServers.addAt(userServers.findOne(vs_id[row] ?? 0), SERVER_ONLINE_USERS, 1);
      if (service_code[row] === OTHER_TEXT) this.#foreign.user += 1;
    }
    this.users += rows;
  }

  #addTasks(tasks: Tasks): void {
    const { inputs, outputs } = tasks;
    let firstInput = 0;
    let firstOutput = 0;
    for (let row = 0; row < tasks.rows; row += 1) {
      const inputsEnd = inputs.ends[row] ?? 0;
      const outputsEnd = outputs.ends[row] ?? 0;
      this.rejections.countNested(tasks, row, this.#outputs, firstOutput, outputsEnd);
      this.#addTask(tasks, { row, firstInput, inputsEnd, firstOutput, outputsEnd });
      firstInput = inputsEnd;
      firstOutput = outputsEnd;
    }
  }

  #addTask(tasks: Tasks, rows: TaskRows): void {
    const { row, firstInput, inputsEnd, firstOutput, outputsEnd } = rows;
    const server = tasks.vs_id[row] ?? 0;
    const id = this.#readings.readId(row);
    if (sanitizeLabelValue(id) !== id) {
      this.rejections.addTask('invalid_id', tasks.entry[row] ?? 0);
      return;
    }
    const first = this.#readings.find(id);
    const hasAccounts = this.#readings.reserve(rows);
    if (first !== undefined) {
      this.rejections.addTask('duplicate_id', tasks.entry[row] ?? 0);
      const firstServer = this.#names.getId(first.vsId);
      if (hasAccounts) this.#readings.addDuplicate(first, rows, id, this.#readOutputs(firstServer, rows));
      return;
    }
    const serverRow = this.#sums.servers.findOne(server);
    this.#countTask(tasks, rows, serverRow);
    this.#addInputs(this.#inputs, server, firstInput, inputsEnd);
    const outputs: OutputReading[] | undefined = hasAccounts ? [] : undefined;
    this.#countAudience(this.#addOutputs(server, serverRow, firstOutput, outputsEnd, outputs));
    if (outputs !== undefined) this.#readings.add(rows, id, sortParts(outputs));
  }

  #countTask({ progress, service_code, inputs, outputs }: Tasks, rows: TaskRows, serverRow: number): void {
    const { servers } = this.#sums;
    const { row } = rows;
    this.taskCount += 1;
    if (service_code[row] === OTHER_TEXT) this.#foreign.task += 1;
    this.#surplus.input += inputs.surplus[row] ?? 0;
    this.#surplus.output += outputs.surplus[row] ?? 0;
    servers.addAt(serverRow, TASKS, 1);
    if ((progress[row] ?? 0) > 0) servers.addAt(serverRow, TASKS_WITH_PROGRESS, 1);
    if (countInputs(this.#tasks, rows) > 1) servers.addAt(serverRow, TASKS_MERGING, 1);
  }

  #addInputs(
    { url, device_type, device_version, client_version, valid }: Inputs,
    server: number,
    first: number,
    end: number,
  ): void {
    const { inputs, inputClients } = this.#sums;
    for (let row = first; row < end; row += 1) {
      const hasVersion = ((valid[row] ?? 0) & this.#deviceVersion) !== 0;
      const version = (hasVersion ? device_version[row] : client_version[row]) ?? 0;
      inputs.addAt(inputs.find(server, url[row] ?? 0, 0), INPUTS, 1);
      inputClients.addAt(inputClients.find(device_type[row] ?? 0, version, 0), INPUT_CLIENTS, 1);
    }
  }

  /** Adds up outputs; returns their connections. The outputs of a task with accounts are added to its readings. */
  #addOutputs(
    server: number,
    serverRow: number,
    first: number,
    end: number,
    readings: OutputReading[] | undefined,
  ): number {
    const columns = this.#outputs;
    const { tag, streams, http_connections_num } = columns;
    const { outputs, renditions, tags } = this.#sums;
    let sum = 0;
    let firstStream = first === 0 ? 0 : (streams.ends[first - 1] ?? 0);
    for (let row = first; row < end; row += 1) {
      const found = http_connections_num[row] ?? 0;
      const connections = found < 0 ? 0 : found;
      const outputRow = this.#findOutput(columns, server, row);
      const renditionRow = this.#findRendition(columns, row);
      outputs.addAt(outputRow, OUTPUTS, 1);
      outputs.addAt(outputRow, HTTP_CONNECTIONS, connections);
      if (found === 0) outputs.addAt(outputRow, OUTPUTS_UNWATCHED, 1);
      renditions.addAt(renditionRow, OUTPUT_RENDITIONS, 1);
      renditions.addAt(renditionRow, RENDITION_HTTP_CONNECTIONS, connections);
      tags.addAt(tags.findOne(tag[row] ?? 0), OUTPUT_TAGS, 1);
      const streamsEnd = streams.ends[row] ?? 0;
      this.#surplus.stream += streams.surplus[row] ?? 0;
      this.#addStreams(this.#streams, server, serverRow, firstStream, streamsEnd);
      firstStream = streamsEnd;
      sum += connections;
      readings?.push(readOutput(columns, row, connections, outputRow, renditionRow));
    }
    return sum;
  }

  #addStreams(
    { codec_type, codec_id, copy, width, height, bit_rate }: Streams,
    server: number,
    serverRow: number,
    first: number,
    end: number,
  ): void {
    const { servers, streams, codecs, bitRates } = this.#sums;
    for (let row = first; row < end; row += 1) {
      const type = toCodecType(codec_type[row]);
      const mode = toMode(copy[row]);
      const rate = bit_rate[row] ?? 0;
      streams.addAt(streams.find(server, type, mode), STREAMS, 1);
      codecs.addAt(codecs.find(type, codec_id[row] ?? 0, 0), STREAM_CODECS, 1);
      bitRates.addAt(bitRates.find(type, mode, 0), STREAM_BIT_RATE, rate < 0 ? 0 : rate);
      if (type === VIDEO_ID && mode !== COPY_ID)
        servers.addAt(
          serverRow,
          TRANSCODED_PIXELS,
          Math.max(0, width[row] ?? 0) * Math.max(0, height[row] ?? 0),
        );
    }
  }

  #countAudience(connections: number): void {
    for (const [index, threshold] of CONNECTION_THRESHOLDS.entries()) {
      if (connections < threshold) return;
      this.#audience[index] = (this.#audience[index] ?? 0) + 1;
    }
  }

  #findOutput({ format }: Outputs, server: number, row: number): number {
    return this.#sums.outputs.find(server, format[row] ?? 0, 0);
  }

  #findRendition({ width, height, video_codec_name, audio_codec_name }: Outputs, row: number): number {
    const size = this.#sizes.find(width[row] ?? 0, height[row] ?? 0);
    return this.#sums.renditions.find(video_codec_name[row] ?? 0, audio_codec_name[row] ?? 0, size);
  }

  /** The outputs of a repeated task, whose bytes count on the server of its first entry, and nothing else. */
  #readOutputs(server: number, { firstOutput, outputsEnd }: TaskRows): OutputReading[] {
    const columns = this.#outputs;
    const { http_connections_num } = columns;
    const readings: OutputReading[] = [];
    for (let row = firstOutput; row < outputsEnd; row += 1) {
      const [outputRow, renditionRow] = [
        this.#findOutput(columns, server, row),
        this.#findRendition(columns, row),
      ];
      const connections = Math.max(0, http_connections_num[row] ?? 0);
      readings.push(readOutput(columns, row, connections, outputRow, renditionRow));
    }
    return sortParts(readings);
  }

  #listSums(): Sums {
    return recordOf(FAMILY_NAMES, (family) => this.#sums[family].toSums(family, this.#names));
  }

  #listSurplus(): SurplusCount[] {
    const { input, output, stream } = this.#surplus;
    const { task, account } = this.#readings.surplus;
    const labelSets = Object.values(this.#sums).reduce((sum, { surplus }) => sum + surplus, 0);
    const counts: SurplusCount[] = [
      { item: 'user', count: this.#reader.surplusOf(this.#table.user) },
      { item: 'task', count: task + this.#reader.surplusOf(this.#table.task) },
      { item: 'account', count: account },
      { item: 'input', count: input },
      { item: 'output', count: output },
      { item: 'stream', count: stream },
      { item: 'label_set', count: labelSets },
      { item: 'label_value', count: this.#reader.surplusLabels },
    ];
    return counts.filter(isPositive);
  }
}

function isPositive({ count }: { readonly count: number }): boolean {
  return count > 0;
}
