import { execFile } from 'node:child_process';
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';

const SOURCES = ['checksum.ts', 'fragments.ts', 'parity.ts', 'xts.ts'];
const OPTIONS = [
  '--enable simd --enable relaxed-simd --enable threads --runtime stub --optimizeLevel 3 --converge --noAssert',
  '--importMemory --noExportMemory --sharedMemory --initialMemory 1 --maximumMemory 1024 --memoryBase 512',
].flatMap((line) => line.split(' '));

/** As a program of its own: the compiler's types, imported here, would change those of arrays everywhere. */
const compiler = createRequire(import.meta.url).resolve('assemblyscript/bin/asc.js');

/** Compiles the kernels. The same sources and compiler give the same bytes, so what is in the tree can be checked. */
export async function buildKernels(): Promise<Buffer> {
  const folder = await mkdtemp(join(tmpdir(), 'granary-kernels-'));
  const output = join(folder, 'kernels.wasm');
  try {
    const cwd = fileURLToPath(new URL('assembly/', import.meta.url));
    await promisify(execFile)(process.execPath, [compiler, ...SOURCES, ...OPTIONS, '--outFile', output], { cwd });
    return await readFile(output);
  } finally {
    await rm(folder, { recursive: true });
  }
}

if (import.meta.main) await writeFile(new URL('kernels.wasm', import.meta.url), await buildKernels());
