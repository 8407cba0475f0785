/** What the kernels export. Pointers are addresses in the memory; lengths are bytes. See the sources in `assembly/`. */
export interface Kernels {
  checksums(data: number, count: number, into: number): void;
  parity(pointers: number, count: number, length: number, p: number, q: number): void;
  sum(pointers: number, count: number, length: number, target: number): void;
  solve(
    pointers: number,
    count: number,
    length: number,
    p: number,
    q: number,
    x: number,
    y: number,
    timesA: number,
    timesB: number,
  ): void;
  update(change: number, length: number, p: number, q: number, table: number): void;
  xor(target: number, source: number, length: number): void;
  fillTables(tables: number): void;
  combine(pointers: number, count: number, sums: number, length: number, factors: number, tables: number): void;
  addMasks(tweaks: number, count: number, data: number): void;
}

/** The code of the kernels and their memory, to be passed to another thread. */
export interface SharedKernels {
  readonly code: WebAssembly.Module;
  readonly memory: WebAssembly.Memory;
}

/** Kernels of another thread work on the same bytes; the two threads agree on who uses which. */
export function openKernels({ code, memory }: SharedKernels): Kernels {
  return new WebAssembly.Instance(code, { env: { memory } }).exports as Kernels;
}
