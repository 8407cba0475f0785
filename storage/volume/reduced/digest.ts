import { createHash } from 'node:crypto';
import type { Xts } from '../../kernels/index.ts';
import { BLOCK_BYTES } from '../../units.ts';

/** No container lies this far: the cipher is used with this number for nothing else. */
const DOMAIN_UNIT = 2 ** 52;
const OPEN_DOMAIN = Buffer.alloc(32);
const domains = new WeakMap<Xts, Buffer>();

/**
 * What tells a chunk from all others, as 32 characters. Volumes of different keys never agree, and without the key
 * nobody can tell from a digest what an encrypted chunk holds. Two chunks of one SHA-256 are not known to exist, so
 * equal digests are taken for equal bytes, without reading them again.
 */
export function digestOf(chunk: Buffer, cipher: Xts | undefined): string {
  const domain = cipher ? domainOf(cipher) : OPEN_DOMAIN;
  return createHash('sha256').update(domain).update(chunk).digest().toString('latin1');
}

export function digestBytes(digest: string): Buffer {
  return Buffer.from(digest, 'latin1');
}

function domainOf(cipher: Xts): Buffer {
  let domain = domains.get(cipher);
  if (!domain) {
    const block = Buffer.alloc(BLOCK_BYTES);
    cipher.encrypt(block, DOMAIN_UNIT);
    domain = createHash('sha256').update(block).digest();
    domains.set(cipher, domain);
  }
  return domain;
}
