/** A number of the module that changes. */
interface NumberGlobal {
  readonly value: number;
}

/** Exports of the module; `wasm/reader.ts` and the files that it names document them. */
export interface ModuleExports {
  readonly memory: { readonly buffer: ArrayBuffer };
  readonly setUp: (seed: bigint) => void;
  readonly setLimits: (...limits: readonly number[]) => void;
  readonly begin: (polledCodeLength: number) => number;
  readonly reserveSlice: () => number;
  readonly write: (bytes: number) => number;
  readonly end: () => number;
  readonly clearReadings: () => void;
  readonly allocatedBytes: () => number;
  readonly receivedBytes: () => number;
  readonly consumedBytes: () => number;
  readonly failureOffset: () => number;
  readonly failureByte: () => number;
  readonly countFields: (type: number) => number;
  readonly fieldAt: (type: number, index: number) => number;
  readonly keyLengthOf: (field: number) => number;
  readonly polledCode: NumberGlobal;
  readonly expectation: NumberGlobal;
  readonly seenMembers: NumberGlobal;
  readonly shapeError: NumberGlobal;
  readonly shapeErrorMember: NumberGlobal;
  readonly shapeErrorOffset: NumberGlobal;
  readonly users: NumberGlobal;
  readonly tasks: NumberGlobal;
  readonly foreignUsers: NumberGlobal;
  readonly foreignTasks: NumberGlobal;
  readonly readings: NumberGlobal;
  readonly readingsUsed: NumberGlobal;
  readonly rows: NumberGlobal;
  readonly rowCount: NumberGlobal;
  /** 1 if an entry was rejected or a field was invalid. */
  readonly hasInvalid: NumberGlobal;
  readonly rejected: NumberGlobal;
  readonly invalidFields: NumberGlobal;
  readonly firstRejected: NumberGlobal;
  readonly firstRejectedCount: NumberGlobal;
  readonly surplus: NumberGlobal;
  readonly userType: NumberGlobal;
  readonly taskType: NumberGlobal;
  readonly inputType: NumberGlobal;
  readonly outputType: NumberGlobal;
  readonly streamType: NumberGlobal;
}

/** Creates an instance of the module; the module is built with this file, so its exports are trusted. */
export function instantiate(
  module: WebAssembly.Module,
  host: Readonly<Record<string, (...args: number[]) => number | void>>,
): ModuleExports {
  const abort = (): never => {
    throw new WebAssembly.RuntimeError('an assertion of the module failed');
  };
  const { exports } = new WebAssembly.Instance(module, { host, env: { abort } });
  // A parser: this is where foreign values get their type.
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion
  return exports as unknown as ModuleExports;
}
