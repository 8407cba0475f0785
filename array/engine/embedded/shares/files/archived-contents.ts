import { setTimeout as sleep } from 'node:timers/promises';
import { FileError } from '@granary/protocols/nfs';
import type { OnEngineEvent } from '../../../engine.ts';
import type { FileArchive } from '../../../shares.ts';

/** Objects are read in pieces of this size, whatever is asked for. */
const PIECE_BYTES = 4 * 1024 * 1024;
/** Pieces kept in memory, so that a sequential read fetches each of them once. */
const KEPT_MAX = 4;
/** How long a request waits for a piece before it fails with EAGAIN. */
const WAIT_MS_MAX = 4_000;
/** A piece that has not arrived after this time is requested again by the next reader. */
const REPEAT_MS = 60_000;

/** A file whose contents are in an object, seen where nothing can be written back: in a snapshot. */
export interface ArchivedFile {
  readonly volume: string;
  readonly archive: FileArchive;
  readonly sizeBytes: number;
}

interface Piece {
  readonly given: PromiseWithResolvers<Buffer>;
  isGiven: boolean;
  askedAt: number;
}

/** Reads archived files without bringing them back. Each piece is asked for once, however many wait for it. */
export class ArchivedContents {
  readonly #onEvent: OnEngineEvent;
  /** The one used last is the last. Objects never change, so neither do these. */
  readonly #pieces = new Map<string, Piece>();

  constructor(onEvent: OnEngineEvent) {
    this.#onEvent = onEvent;
  }

  /** Fills `into`, and returns how many bytes there were: fewer only at the end of the file. EAGAIN if it takes long. */
  async read(file: ArchivedFile, offset: number, into: Buffer): Promise<number> {
    const bytes = Math.max(0, Math.min(into.length, file.sizeBytes - offset));
    for (let at = 0; at < bytes;) {
      const start = Math.floor((offset + at) / PIECE_BYTES) * PIECE_BYTES;
      const piece = await this.#piece(file, start);
      at += piece.copy(into, at, offset + at - start, offset + bytes - start);
    }
    return bytes;
  }

  /** What was asked for, or why it cannot be had. */
  given(archive: FileArchive, offset: number, bytes: Uint8Array | null, failure: string): void {
    const key = keyOf(archive, offset);
    const piece = this.#pieces.get(key);
    if (!piece || piece.isGiven) return;
    if (bytes === null) {
      this.#pieces.delete(key);
      piece.given.reject(new FileError('EIO', failure));
      return;
    }
    piece.isGiven = true;
    piece.given.resolve(Buffer.from(bytes.buffer, bytes.byteOffset, bytes.length));
    this.#makeRoom();
  }

  async #piece({ volume, archive, sizeBytes }: ArchivedFile, offset: number): Promise<Buffer> {
    const key = keyOf(archive, offset);
    const piece = this.#pieces.get(key) ?? newPiece();
    this.#pieces.delete(key);
    this.#pieces.set(key, piece);
    if (!piece.isGiven && performance.now() - piece.askedAt > REPEAT_MS) {
      piece.askedAt = performance.now();
      const length = Math.min(PIECE_BYTES, sizeBytes - offset);
      this.#onEvent({ type: 'contents-wanted', volume, archive, sizeBytes, offset, length });
    }
    const late = new AbortController();
    const time = sleep(WAIT_MS_MAX, undefined, { signal: late.signal, ref: false }).catch(() => undefined);
    try {
      const found = await Promise.race([piece.given.promise, time]);
      if (found) return found;
    } finally {
      late.abort();
    }
    throw new FileError('EAGAIN', 'the file is being read from its archive');
  }

  #makeRoom(): void {
    const given = [...this.#pieces].filter(([, { isGiven }]) => isGiven);
    for (const [key] of given.slice(0, -KEPT_MAX)) this.#pieces.delete(key);
  }
}

function newPiece(): Piece {
  const given = Promise.withResolvers<Buffer>();
  given.promise.catch(() => undefined);
  return { given, isGiven: false, askedAt: -Infinity };
}

function keyOf({ destination, key }: FileArchive, offset: number): string {
  return `${destination} ${key} ${offset}`;
}
