import type { Drive } from '../../drive/drive.ts';
import { StorageError } from '../../errors.ts';
import type { Layout } from '../layout.ts';

const CHUNK_BYTES = 1024 * 1024;

/** Zeroes the metadata area; ranges that are zero already, as in a new sparse file, are not written. */
export async function clearMetadata(drive: Drive, layout: Layout): Promise<void> {
  const zeros = Buffer.alloc(CHUNK_BYTES);
  const chunk = Buffer.allocUnsafe(CHUNK_BYTES);
  for (let offset = 0; offset < layout.dataOffset; offset += CHUNK_BYTES) {
    const length = Math.min(CHUNK_BYTES, layout.dataOffset - offset);
    const piece = chunk.subarray(0, length);
    await drive.read(offset, piece);
    if (!piece.equals(zeros.subarray(0, length))) await drive.write(offset, zeros.subarray(0, length));
  }
  await drive.flush();
}

export function requireSpace(drive: Drive, layout: Layout): void {
  if (drive.sizeBytes >= layout.memberBytes) return;
  const message = `Drive ${drive.id} has ${drive.sizeBytes} bytes; take one of ${layout.memberBytes} or more.`;
  throw new StorageError('invalid', message);
}
