import * as fs from 'node:fs';

/**
 * No more than this is written to a file by one call. The kernel keeps what one call writes in pages as large as that,
 * and with 1 MiB in one page a write of 4 KiB into it took it ten times as long as with 64 KiB, each time, for as long
 * as the page stays in memory; large writes lose nothing by it.
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

/** The same in threads of the platform. */
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
