import { readFileSync } from 'node:fs';
import { openKernels, type SharedKernels } from './shared.ts';

const PAGE_BYTES = 64 * 1024;
const MEBIBYTE = 1024 * 1024;
const MEMORY_BYTES = 64 * MEBIBYTE;

/**
 * How the memory is shared out: page 0 holds the small tables below, then comes scratch for data that arrives in
 * ordinary buffers, and from 2 MiB on it is the arena's.
 */
export const POINTERS_AT = 1024;
export const POINTERS_MAX = 256;
export const CHECKSUMS_AT = 2048;
export const CHECKSUMS_MAX = 256;
export const FACTORS_AT = 4096;
export const FACTORS_MAX = 4096;
export const TABLES_AT = 8192;
export const TABLE_BYTES = 32;
export const TWEAKS_AT = 16 * 1024;
export const SCRATCH_AT = PAGE_BYTES;
export const SCRATCH_BYTES = 2 * MEBIBYTE - PAGE_BYTES;
export const ARENA_AT = SCRATCH_AT + SCRATCH_BYTES;
export const ARENA_BYTES = MEMORY_BYTES - ARENA_AT;

// It never grows: growing would detach every buffer handed out. What nobody touches takes no memory of the machine.
const pages = MEMORY_BYTES / PAGE_BYTES;
const memory = new WebAssembly.Memory({ initial: pages, maximum: pages, shared: true });

/** Read once: the getter of the memory costs more than a whole call of a kernel. */
export const memoryBuffer = memory.buffer;

/** For a thread that helps this one. */
export const sharedKernels: SharedKernels = {
  code: new WebAssembly.Module(readFileSync(new URL('kernels.wasm', import.meta.url))),
  memory,
};
export const kernels = openKernels(sharedKernels);

kernels.fillTables(TABLES_AT);
