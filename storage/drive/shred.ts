import { randomFill } from 'node:crypto';
import { setImmediate } from 'node:timers/promises';
import { promisify } from 'node:util';
import { StorageError } from '../errors.ts';
import type { Drive } from './drive.ts';

const CHUNK_BYTES = 1024 * 1024;
/** Progress is flushed, and then reported, after this many bytes or after this fraction of the drive. */
const FLUSH_BYTES = 64 * CHUNK_BYTES;
const FLUSHES_MIN = 16;
const PASSES_MAX = 35;
const fillWithRandom = promisify<Buffer, Buffer>(randomFill);

export interface ShredOptions {
  /** Where to begin, as a fraction of the whole: what lies before was overwritten earlier. */
  readonly from?: number;
  readonly passes?: number;
  /** Everything before this fraction is overwritten durably: an interrupted run can resume there. */
  readonly onProgress?: (fraction: number) => void;
  readonly signal?: AbortSignal;
}

/**
 * Overwrites the whole drive with random bytes, once per pass; each pass is durable before the next begins. Ranges of
 * zeros, such as holes of a sparse file, hold no data and are skipped.
 */
export async function shred(drive: Drive, options: ShredOptions = {}): Promise<void> {
  const passes = options.passes ?? 1;
  if (!Number.isInteger(passes) || passes < 1 || passes > PASSES_MAX) {
    throw new StorageError('invalid', `A drive is shredded in 1 to ${PASSES_MAX} passes, not ${passes}.`);
  }
  const chunk = Buffer.allocUnsafe(Math.min(CHUNK_BYTES, drive.sizeBytes));
  const zeros = Buffer.alloc(chunk.length);
  const flushBytes = Math.min(FLUSH_BYTES, drive.sizeBytes / FLUSHES_MIN);
  const chunks = Math.ceil(drive.sizeBytes / CHUNK_BYTES);
  const first = Math.floor(Math.min(1, Math.max(0, options.from ?? 0)) * passes * chunks);
  for (let pass = 0; pass < passes; pass += 1) {
    let unflushedBytes = 0;
    const start = Math.max(0, first - pass * chunks) * CHUNK_BYTES;
    for (let offset = start; offset < drive.sizeBytes; offset += CHUNK_BYTES) {
      if (options.signal?.aborted === true) {
        throw new StorageError('cancelled', `Shredding drive ${drive.id} was cancelled; what it held is partly gone.`);
      }
      const piece = chunk.subarray(0, Math.min(CHUNK_BYTES, drive.sizeBytes - offset));
      await drive.read(offset, piece);
      // Reads of holes are synchronous: yields to the event loop.
      await setImmediate();
      if (!piece.equals(zeros.subarray(0, piece.length))) {
        await fillWithRandom(piece);
        await drive.write(offset, piece);
        unflushedBytes += piece.length;
      }
      const end = offset + piece.length;
      if (unflushedBytes >= flushBytes || end === drive.sizeBytes) {
        await drive.flush();
        unflushedBytes = 0;
      }
      if (unflushedBytes === 0) options.onProgress?.((pass + end / drive.sizeBytes) / passes);
    }
  }
}
