/** A number of the module that changes. */
interface NumberGlobal {
  readonly value: number;
}

/** Exports of the module; `assembly/reader.ts` and the files that it names document them. */
export interface EngineExports {
  readonly memory: { readonly buffer: ArrayBuffer };
  // Set-up.
  readonly setKey: (first: bigint, second: bigint) => void;
  readonly setLimits: (labels: number, fieldLabels: number, entryBytes: number, rows: number) => void;
  readonly root: NumberGlobal;
  readonly keyBuffer: NumberGlobal;
  readonly createType: () => number;
  readonly addField: (type: number, keyLength: number, kind: number, child: number, limit: number) => number;
  readonly addIdentityField: (type: number, field: number) => void;
  // Reading.
  readonly matchText: NumberGlobal;
  readonly begin: (matchLength: number) => number;
  readonly reserveSlice: () => number;
  readonly write: (bytes: number) => number;
  readonly end: () => number;
  // Columns of the batch.
  readonly layout: NumberGlobal;
  readonly rowsOf: (type: number) => number;
  readonly capacityOf: (type: number) => number;
  readonly columnAt: (field: number, index: number) => number;
  readonly hasInvalid: (type: number) => number;
  // Counts of the body.
  readonly firstEntryOf: (type: number) => number;
  readonly droppedOf: (type: number) => number;
  readonly surplusLabels: NumberGlobal;
  readonly allocatedBytes: () => number;
  readonly receivedBytes: () => number;
  /** Bytes of the body that have been read. */
  readonly windowOffset: NumberGlobal;
  // Errors.
  readonly failureOffset: () => number;
  readonly failureByte: () => number;
  readonly expectation: NumberGlobal;
  readonly seenMembers: NumberGlobal;
  readonly shapeError: NumberGlobal;
  readonly shapeErrorMember: NumberGlobal;
  readonly shapeErrorOffset: NumberGlobal;
}

/** Creates an instance of the module; the module is built with this file, so its exports are trusted. */
export function instantiate(
  module: WebAssembly.Module,
  host: Readonly<Record<string, (...args: number[]) => number | void>>,
): EngineExports {
  const abort = (): never => {
    throw new WebAssembly.RuntimeError('an assertion of the module failed');
  };
  const { exports } = new WebAssembly.Instance(module, { host, env: { abort } });
  // A parser: this is where foreign values get their type.
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion
  return exports as unknown as EngineExports;
}
