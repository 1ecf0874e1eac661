/*
 * The part of the WebAssembly interface that is used. TypeScript has it in the library for browsers
 * only, and `@types/node` for Node.js 20 lacks it.
 */
declare namespace WebAssembly {
  class Module {
    constructor(bytes: Uint8Array);
    /** Keeps `Module` nominal: an arbitrary object is none. */
    private readonly module: never;
  }
  class Instance {
    constructor(module: Module, imports: Readonly<Record<string, Readonly<Record<string, unknown>>>>);
    readonly exports: Readonly<Record<string, unknown>>;
  }
  class Memory {
    /** In pages of 64 KiB. */
    constructor(limits: { readonly initial: number; readonly maximum: number });
    readonly buffer: ArrayBuffer;
    grow(pages: number): number;
    private readonly memory: never;
  }
  class RuntimeError extends Error {}
}
