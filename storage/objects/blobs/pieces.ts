import { recordBytes, PIECE_BLOCK_BYTES } from '../drives/record.ts';
import type { Ring } from '../layout/layout.ts';
import type { PolicyLayout } from '../records.ts';

type Coding = Pick<PolicyLayout, 'copies' | 'dataFragments' | 'parityFragments'>;

export const BLOB_BYTES_MAX = 5 * 1024 ** 3;

/** Up to so much a body, or a piece, is packed with others; more gets segments of its own. */
export const PACKED_BYTES_MAX = 1024 * 1024;

/** A partition's number contains its policy. */
export const PARTITIONS_PER_POLICY = 2 ** 16;

export function slotsOf(policy: Coding): number {
  return policy.copies > 0 ? policy.copies : policy.dataFragments + policy.parityFragments;
}

/** Pieces that must be good for a blob to be read. */
export function piecesToRead(policy: Coding): number {
  return policy.copies > 0 ? 1 : policy.dataFragments;
}

/** Pieces that must be durable before a write is acknowledged. */
export function writeQuorum(policy: Coding): number {
  if (policy.copies > 0) return Math.ceil(policy.copies / 2);
  return policy.dataFragments + (policy.parityFragments > 0 ? 1 : 0);
}

/** Bytes of a stripe: one block of every data fragment. Copies have stripes of one block. */
export function stripeBytes(policy: Coding): number {
  return piecesToRead(policy) * PIECE_BLOCK_BYTES;
}

/** Data bytes in each piece of a blob, without header and checksums. */
export function pieceLength(size: number, policy: Coding): number {
  if (policy.copies > 0) return size;
  const stripe = stripeBytes(policy);
  const whole = Math.floor(size / stripe);
  return whole * PIECE_BLOCK_BYTES + Math.ceil((size - whole * stripe) / policy.dataFragments);
}

/** Bytes that each piece of a blob takes in its segment. */
export function pieceBytesOf(size: number, policy: Coding): number {
  return recordBytes(pieceLength(size, policy));
}

/** Policy and partition of a blob in one number. `partitions` is a power of two. */
export function partitionOf(id: Uint8Array, policy: number, partitions: number): number {
  const random = ((id[0] ?? 0) << 8) | (id[1] ?? 0);
  return policy * PARTITIONS_PER_POLICY + (random & (partitions - 1));
}

export function policyOfPartition(partition: number): number {
  return Math.floor(partition / PARTITIONS_PER_POLICY);
}

export function partitionInPolicy(partition: number): number {
  return partition % PARTITIONS_PER_POLICY;
}

/** Drives that a ring wants the pieces of a partition on, by slot, 0 for none. */
export function drivesOfPartition({ slots, drives }: Pick<Ring, 'slots' | 'drives'>, partition: number): Uint32Array {
  const start = partitionInPolicy(partition) * slots;
  return drives.subarray(start, start + slots);
}
