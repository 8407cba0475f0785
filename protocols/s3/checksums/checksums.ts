import { createHash, hash } from 'node:crypto';
import { crc32 } from 'node:zlib';
import type { Checksum } from '@granary/storage/object-store';
import { crc32c } from '../../iscsi/pdu/crc32c.ts';
import { Crc64Nvme } from './crc64nvme.ts';

export type Algorithm = Checksum['algorithm'];

/** By the name of its header, and of its trailer. */
export const CHECKSUM_HEADERS: Readonly<Record<string, Algorithm>> = {
  'x-amz-checksum-crc32': 'CRC32',
  'x-amz-checksum-crc32c': 'CRC32C',
  'x-amz-checksum-crc64nvme': 'CRC64NVME',
  'x-amz-checksum-sha1': 'SHA1',
  'x-amz-checksum-sha256': 'SHA256',
};

const BYTES: Readonly<Record<Algorithm, number>> = { CRC32: 4, CRC32C: 4, CRC64NVME: 8, SHA1: 20, SHA256: 32 };
/** As clients name it, in any case; undefined for what is none. */
export function algorithmOf(name: string): Algorithm | undefined {
  const upper = name.toUpperCase();
  return Object.hasOwn(BYTES, upper) ? (upper as Algorithm) : undefined;
}

/** Whether a text is base64 of as many bytes as the algorithm makes, written in the one right way. */
export function isChecksum(algorithm: Algorithm, value: string): boolean {
  const bytes = Buffer.from(value, 'base64');
  return bytes.length === BYTES[algorithm] && bytes.toString('base64') === value;
}

/** A checksum of bytes that come in pieces. */
export interface Summer {
  update(bytes: Uint8Array): void;
  /** Base64. */
  digest(): string;
}

export function summer(algorithm: Algorithm): Summer {
  switch (algorithm) {
    case 'CRC32':
      return crcSummer((bytes, before) => crc32(bytes, before));
    case 'CRC32C':
      return crcSummer((bytes, before) => crc32c(bytes, 0, bytes.length, before));
    case 'CRC64NVME':
      return crc64Summer();
    case 'SHA1':
      return hashSummer('sha1');
    case 'SHA256':
      return hashSummer('sha256');
  }
}

/** The checksum of bytes that are all there, in base64. */
export function checksumOf(algorithm: Algorithm, bytes: Uint8Array): string {
  if (algorithm === 'SHA1' || algorithm === 'SHA256') return hash(algorithm.toLowerCase(), bytes, 'base64');
  const one = summer(algorithm);
  one.update(bytes);
  return one.digest();
}

function crcSummer(next: (bytes: Uint8Array, before: number) => number): Summer {
  let crc = 0;
  return {
    update: (bytes) => {
      crc = next(bytes, crc);
    },
    digest: () => {
      const bytes = Buffer.alloc(4);
      bytes.writeUInt32BE(crc);
      return bytes.toString('base64');
    },
  };
}

function crc64Summer(): Summer {
  const crc = new Crc64Nvme();
  return { update: (bytes) => crc.update(bytes), digest: () => crc.digest().toString('base64') };
}

function hashSummer(name: string): Summer {
  const one = createHash(name);
  return { update: (bytes) => void one.update(bytes), digest: () => one.digest('base64') };
}
