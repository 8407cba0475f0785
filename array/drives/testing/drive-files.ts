import { closeSync, openSync, readSync, writeSync } from 'node:fs';
import type { TestArray } from '../../testing/test-array.ts';

const CHUNK_BYTES = 2 ** 20;

/** What drives are called, in the order they came. */
export function named(number: number): string {
  return `volume-${number.toString(16).padStart(8, '0')}`;
}

export function fileOf(array: TestArray, number: number): string {
  const drive = array.configuration.drives[number - 1];
  if (!drive) throw new Error(`There is no drive ${number}`);
  return drive.file;
}

/** Behind the array's back. */
export function writeFile(file: string, at: number, bytes: Buffer): void {
  const handle = openSync(file, 'r+');
  writeSync(handle, bytes, 0, bytes.length, at);
  closeSync(handle);
}

export function readFile(file: string, at: number, length: number): Buffer {
  const bytes = Buffer.alloc(length);
  const handle = openSync(file, 'r');
  readSync(handle, bytes, 0, length, at);
  closeSync(handle);
  return bytes;
}

/** Where the bytes are in the file, looked for at every block of 4 KiB; -1 when nowhere. */
export function findInFile(file: string, wanted: Buffer, bytesMax: number): number {
  const chunk = Buffer.alloc(CHUNK_BYTES);
  const handle = openSync(file, 'r');
  try {
    for (let at = 0; at < bytesMax; at += CHUNK_BYTES) {
      readSync(handle, chunk, 0, CHUNK_BYTES, at);
      const found = chunk.indexOf(wanted);
      if (found >= 0) return at + found;
    }
    return -1;
  } finally {
    closeSync(handle);
  }
}
