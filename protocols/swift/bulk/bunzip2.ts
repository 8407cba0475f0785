import { spawn } from 'node:child_process';
import type { Writable } from 'node:stream';
import { SwiftRefusal } from '../request/refusal.ts';
import { Bzip2Places, type Bzip2Place } from './bzip2-places.ts';
import { TarError } from './tar.ts';

/** Each is a process that works as fast as it gets its bytes. */
const places = new Bzip2Places({ most: 4, mostOfAccount: 2, now: () => performance.now() });

/**
 * Node has gzip and no bzip2, whose blocks take a tenth of a second of processor each: that is done by the system's own
 * `bzip2`, in a process beside the one that serves everybody else.
 */
export async function* bunzip2(
  bytes: AsyncIterable<Uint8Array>,
  account: string,
): AsyncGenerator<Uint8Array, void, undefined> {
  const place = places.acquire(account);
  if (place === undefined) {
    throw new SwiftRefusal(503, 'Too many archives in bzip2 are being unpacked. Please try again.', {
      'retry-after': '5',
    });
  }
  try {
    yield* unpack(counted(bytes, place), place.signal);
  } finally {
    place.release();
  }
}

async function* counted(bytes: AsyncIterable<Uint8Array>, place: Bzip2Place): AsyncGenerator<Uint8Array, void> {
  for await (const chunk of bytes) {
    place.received(chunk.length);
    yield chunk;
  }
}

async function* unpack(
  bytes: AsyncIterable<Uint8Array>,
  signal: AbortSignal,
): AsyncGenerator<Uint8Array, void, undefined> {
  const child = spawn('bzip2', ['-dc'], { stdio: ['pipe', 'pipe', 'ignore'], env: { PATH: process.env['PATH'] } });
  const ended = new Promise<number | null>((resolve, reject) => {
    child.once('error', reject);
    child.once('close', resolve);
  });
  const fed = feed(bytes, child.stdin);
  // Both are looked at when the output has ended.
  for (const promise of [ended, fed]) promise.catch(() => undefined);
  signal.addEventListener('abort', () => child.kill('SIGKILL'), { once: true });
  try {
    yield* child.stdout as AsyncIterable<Buffer>;
    const code = await ended.catch(() => {
      throw new SwiftRefusal(400, 'extract-archive: tar.bz2 needs the program bzip2, which is not on this machine');
    });
    if (signal.aborted) {
      throw new SwiftRefusal(503, 'The archive came too slowly while others waited to be unpacked. Please try again.', {
        'retry-after': '5',
      });
    }
    await fed;
    if (code !== 0) throw new TarError('it cannot be unpacked');
  } finally {
    child.kill('SIGKILL');
  }
}

/** Writes everything, until the reader has had enough. */
async function feed(bytes: AsyncIterable<Uint8Array>, input: Writable): Promise<void> {
  input.on('error', () => undefined);
  try {
    for await (const chunk of bytes) {
      if (input.destroyed) return;
      if (!input.write(chunk)) await room(input);
    }
  } finally {
    input.end();
  }
}

function room(input: Writable): Promise<void> {
  return new Promise((resolve) => {
    function done(): void {
      input.off('drain', done).off('close', done);
      resolve();
    }
    if (input.destroyed) resolve();
    else input.once('drain', done).once('close', done);
  });
}
