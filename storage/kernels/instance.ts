import { readFileSync } from 'node:fs';
import { openKernels, type SharedKernels } from './shared.ts';

const PAGE_BYTES = 64 * 1024;
const MEBIBYTE = 1024 * 1024;
const MEMORY_BYTES = 64 * MEBIBYTE;

/**
 * The layout of the memory: page 0 holds the small tables below, then scratch space for data in ordinary buffers, and
 * from 2 MiB on the arena.
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

// The memory never grows: growing would detach every buffer in use. Untouched pages take no physical memory.
const pages = MEMORY_BYTES / PAGE_BYTES;
const memory = new WebAssembly.Memory({ initial: pages, maximum: pages, shared: true });

/** Read once: the getter costs more than a kernel call. */
export const memoryBuffer = memory.buffer;

/** For this thread's helper. */
export const sharedKernels: SharedKernels = {
  code: new WebAssembly.Module(readFileSync(new URL('kernels.wasm', import.meta.url))),
  memory,
};
export const kernels = openKernels(sharedKernels);

kernels.fillTables(TABLES_AT);
