import * as fs from 'node:fs';

/**
 * The maximum size of one write call. The kernel keeps the bytes of one call in folios of that size; with folios of 1
 * MiB a write of 4 KiB into one took ten times as long as with 64 KiB, for as long as the folio stayed in memory. Large
 * writes lose nothing by the limit.
 */
export const PIECE_BYTES = 128 * 1024;

export function writeWhole(fd: number, from: Buffer, position: number): void {
  for (let done = 0; done < from.length;) {
    done += fs.writeSync(fd, from, done, Math.min(PIECE_BYTES, from.length - done), position + done);
  }
}

export function readWhole(fd: number, into: Buffer, position: number): void {
  for (let done = 0; done < into.length;) {
    const count = fs.readSync(fd, into, done, into.length - done, position + done);
    if (count === 0) throw endsEarly(position + into.length);
    done += count;
  }
}

/** The same on the thread pool. */
export async function writeWholeAsync(fd: number, from: Buffer, position: number): Promise<void> {
  for (let done = 0; done < from.length;) done += await writeSome(fd, from, done, position + done);
}

export async function readWholeAsync(fd: number, into: Buffer, position: number): Promise<void> {
  for (let done = 0; done < into.length;) {
    const count = await readSome(fd, into, done, position + done);
    if (count === 0) throw endsEarly(position + into.length);
    done += count;
  }
}

function writeSome(fd: number, from: Buffer, at: number, position: number): Promise<number> {
  const length = Math.min(PIECE_BYTES, from.length - at);
  return new Promise((resolve, reject) => {
    fs.write(fd, from, at, length, position, (error, count) => (error ? reject(error) : resolve(count)));
  });
}

function readSome(fd: number, into: Buffer, at: number, position: number): Promise<number> {
  return new Promise((resolve, reject) => {
    fs.read(fd, into, at, into.length - at, position, (error, count) => (error ? reject(error) : resolve(count)));
  });
}

function endsEarly(expected: number): Error {
  return new Error(`the file ends before ${expected} bytes`);
}
