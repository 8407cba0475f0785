import { createHash } from 'node:crypto';
import type { Xts } from '../../kernels/index.ts';
import { BLOCK_BYTES } from '../../units.ts';

/** No container has this number: the cipher uses it for nothing else. */
const DOMAIN_UNIT = 2 ** 52;
const OPEN_DOMAIN = Buffer.alloc(32);
const domains = new WeakMap<Xts, Buffer>();

/**
 * Identifies a chunk, as 32 characters. Digests of volumes with different keys never match, and a digest does not
 * reveal the content of an encrypted chunk without the key. No collision of SHA-256 is known, so equal digests are
 * accepted as equal bytes, without reading them again.
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
