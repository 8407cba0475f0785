/** The part of WebAssembly the kernels use; the types of Node leave it to those of browsers. */
declare namespace WebAssembly {
  class Memory {
    constructor(size: { readonly initial: number; readonly maximum: number; readonly shared: true });
    readonly buffer: SharedArrayBuffer;
  }

  class Module {
    constructor(bytes: Uint8Array);
    readonly [Symbol.toStringTag]: string;
  }

  class Instance {
    constructor(module: Module, imports: { readonly env: { readonly memory: Memory } });
    readonly exports: unknown;
  }
}
