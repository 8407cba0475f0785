import { randomFill } from 'node:crypto';
import { promisify } from 'node:util';
import { StorageError } from '../errors.ts';
import type { Drive } from './drive.ts';

const CHUNK_BYTES = 1024 * 1024;
const PASSES_MAX = 35;
const fillWithRandom = promisify<Buffer, Buffer>(randomFill);

export interface ShredOptions {
  readonly passes?: number;
  readonly onProgress?: (fraction: number) => void;
  readonly signal?: AbortSignal;
}

/** Overwrites the whole drive with random bytes, once per pass, each pass made durable before the next begins. */
export async function shred(drive: Drive, options: ShredOptions = {}): Promise<void> {
  const passes = options.passes ?? 1;
  if (!Number.isInteger(passes) || passes < 1 || passes > PASSES_MAX) {
    throw new StorageError('invalid', `A drive is shredded in 1 to ${PASSES_MAX} passes, not ${passes}.`);
  }
  const chunk = Buffer.allocUnsafe(Math.min(CHUNK_BYTES, drive.sizeBytes));
  for (let pass = 0; pass < passes; pass += 1) {
    for (let offset = 0; offset < drive.sizeBytes; offset += CHUNK_BYTES) {
      if (options.signal?.aborted === true) {
        throw new StorageError('cancelled', `Shredding drive ${drive.id} was cancelled; what it held is partly gone.`);
      }
      const piece = chunk.subarray(0, Math.min(CHUNK_BYTES, drive.sizeBytes - offset));
      await fillWithRandom(piece);
      await drive.write(offset, piece);
      options.onProgress?.((pass + (offset + piece.length) / drive.sizeBytes) / passes);
    }
    await drive.flush();
  }
}
