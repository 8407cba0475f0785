import { createHash, type Hash } from 'node:crypto';
import type { RemoteBucket } from '@granary/protocols/s3/client';

/** What is sent: read piece by piece, as it is sent. */
export interface UploadSource {
  readonly sizeBytes: number;
  readonly read: (offset: number, length: number) => Promise<Uint8Array>;
}

interface Uploading {
  readonly bucket: RemoteBucket;
  readonly key: string;
  readonly source: UploadSource;
  /** Durable before the first part is sent, so that it is aborted after a crash. */
  readonly onUpload: (upload: string) => Promise<void>;
}

const PIECE_BYTES = 2 ** 20;
/**
 * Larger files go in parts, so that a cut costs a part and not the whole. So much is held in memory and sent with its
 * hash: not every service understands bodies in signed chunks. Only files of more than 80 GB have larger parts, which are.
 */
const PART_BYTES = 8 * 2 ** 20;
const PARTS_MAX = 10_000;
const MD5 = /^[0-9a-f]{32}$/;

/** Sends a file and sees to it that all of it arrived. Returns its SHA-256. */
export async function upload(uploading: Uploading): Promise<string> {
  const { bucket, key, source } = uploading;
  const sha256 = createHash('sha256');
  if (source.sizeBytes > PART_BYTES) await sendParts(uploading, sha256);
  else {
    const md5 = createHash('md5');
    const etag = await bucket.put(key, await bodyOf(source, 0, source.sizeBytes, [sha256, md5]), {});
    checkEtag(etag, md5);
  }
  // Each request had the hash of its body; the size proves that all of them arrived.
  const found = await bucket.head(key);
  if (found?.size !== source.sizeBytes) {
    throw new Error(`the bucket has ${found?.size ?? 0} bytes where ${source.sizeBytes} were sent`);
  }
  return sha256.digest('hex');
}

async function sendParts({ bucket, key, source, onUpload }: Uploading, sha256: Hash): Promise<void> {
  const each = Math.max(PART_BYTES, Math.ceil(source.sizeBytes / PARTS_MAX));
  const id = await bucket.createUpload(key, {});
  await onUpload(id);
  try {
    const parts = [];
    for (let start = 0; start < source.sizeBytes; start += each) {
      const md5 = createHash('md5');
      const body = await bodyOf(source, start, Math.min(start + each, source.sizeBytes), [sha256, md5]);
      const part = await bucket.putPart(key, id, parts.length + 1, body);
      checkEtag(part.etag, md5);
      parts.push(part);
    }
    await bucket.completeUpload(key, id, parts);
  } catch (error) {
    await bucket.abortUpload(key, id).catch(() => undefined);
    throw error;
  }
}

async function bodyOf(source: UploadSource, start: number, end: number, hashes: readonly Hash[]) {
  const pieces = piecesOf(source, start, end, hashes);
  if (end - start > PART_BYTES) return { size: end - start, bytes: pieces };
  const whole = Buffer.alloc(end - start);
  let at = 0;
  for await (const piece of pieces) {
    whole.set(piece, at);
    at += piece.length;
  }
  return whole;
}

async function* piecesOf(
  source: UploadSource,
  start: number,
  end: number,
  hashes: readonly Hash[],
): AsyncGenerator<Uint8Array, undefined, undefined> {
  for (let at = start; at < end; at += PIECE_BYTES) {
    const length = Math.min(PIECE_BYTES, end - at);
    const bytes = await source.read(at, length);
    if (bytes.length !== length) throw new Error(`${bytes.length} bytes were read where there are ${length}`);
    for (const hash of hashes) hash.update(bytes);
    yield bytes;
  }
}

/** Not every service has the MD5 for an ETag; one that looks like it must be it. */
function checkEtag(etag: string, md5: Hash): void {
  const expected = md5.digest('hex');
  if (MD5.test(etag) && etag !== expected) throw new Error('what arrived in the bucket is not what was sent');
}
