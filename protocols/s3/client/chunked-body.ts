import { hash } from 'node:crypto';
import type { ChunkSigner } from '../signature/chunk-signer.ts';
import { EMPTY_SHA256 } from '../signature/payload.ts';

/** Every chunk but the last has this size, so that the length of all is known beforehand. */
const CHUNK_BYTES = 128 * 1024;
const SIGNATURE_BYTES = ';chunk-signature='.length + 64;
const LINE_ENDS_BYTES = 4;

export const SIGNED_CHUNKS = 'STREAMING-AWS4-HMAC-SHA256-PAYLOAD';

/** How many bytes a body takes when it is sent in signed chunks. */
export function chunkedLength(size: number): number {
  const whole = Math.floor(size / CHUNK_BYTES);
  const rest = size % CHUNK_BYTES;
  return whole * framed(CHUNK_BYTES) + (rest > 0 ? framed(rest) : 0) + framed(0);
}

function framed(size: number): number {
  return size.toString(16).length + SIGNATURE_BYTES + LINE_ENDS_BYTES + size;
}

/** The aws-chunked encoding: what arrives damaged is refused, and the body need not be read twice for its hash. */
export async function* chunkedBody(
  body: AsyncIterable<Uint8Array>,
  signer: ChunkSigner,
): AsyncGenerator<Buffer, void, undefined> {
  for await (const chunk of evenly(body)) yield frame(chunk, signer.sign(hash('sha256', chunk)));
  yield frame(Buffer.alloc(0), signer.sign(EMPTY_SHA256));
}

function frame(chunk: Buffer, signature: string): Buffer {
  const head = Buffer.from(`${chunk.length.toString(16)};chunk-signature=${signature}\r\n`);
  return Buffer.concat([head, chunk, Buffer.from('\r\n')]);
}

async function* evenly(body: AsyncIterable<Uint8Array>): AsyncGenerator<Buffer, void, undefined> {
  let held = Buffer.alloc(CHUNK_BYTES);
  let length = 0;
  for await (const bytes of body) {
    for (let at = 0; at < bytes.length;) {
      const taken = Math.min(bytes.length - at, CHUNK_BYTES - length);
      held.set(bytes.subarray(at, at + taken), length);
      at += taken;
      length += taken;
      if (length < CHUNK_BYTES) continue;
      yield held;
      held = Buffer.alloc(CHUNK_BYTES);
      length = 0;
    }
  }
  if (length > 0) yield held.subarray(0, length);
}
