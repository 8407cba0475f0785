import type { Cipheriv } from 'node:crypto';
import { type PieceHeader, pieceSeed } from '../drives/record.ts';
import { ObjectError } from '../errors.ts';
import type { Layout, Ring } from '../layout/layout.ts';
import type { PolicyLayout } from '../records.ts';
import { newId } from './blob-ids.ts';
import { encryptor } from '../counter-mode.ts';
import { keyOf, writeKeyOf } from './cipher.ts';
import { partitionInPolicy, partitionOf, pieceLength } from './pieces.ts';

interface NewBlobOptions {
  readonly id?: Uint8Array;
  readonly encrypt?: boolean;
}

/** A blob that is being written: who it is, where it belongs, and how its bytes are changed on the way. */
export class NewBlob {
  readonly id: Uint8Array;
  readonly ring: Ring;
  readonly policy: PolicyLayout;
  /** Policy and partition in one number. */
  readonly partition: number;
  readonly key: number;
  readonly #cipher: Cipheriv | undefined;

  constructor(layout: Layout, policy: number, { id = newId(), encrypt = false }: NewBlobOptions = {}) {
    this.id = id;
    this.ring = ringOf(layout, policy);
    this.policy = this.ring.policy;
    this.partition = partitionOf(this.id, policy, this.ring.partitions);
    this.key = writeKeyOf(layout.encryption, encrypt);
    this.#cipher = this.key === 0 ? undefined : encryptor(keyOf(layout.encryption, this.key), this.id);
  }

  /** The drive that the ring has for a slot; 0 for none. */
  ringDrive(slot: number): number {
    return this.ring.drives[partitionInPolicy(this.partition) * this.ring.slots + slot] ?? 0;
  }

  get isEncrypted(): boolean {
    return this.#cipher !== undefined;
  }

  /** The next bytes as they are kept. */
  sealed(chunk: Uint8Array): Uint8Array {
    return this.#cipher ? this.#cipher.update(chunk) : chunk;
  }

  seed(slot: number): number {
    return pieceSeed(this.id, slot, this.policy.dataFragments);
  }

  header(slot: number, size: number): PieceHeader {
    const { id, partition, key, policy, ring } = this;
    const { dataFragments } = policy;
    const length = pieceLength(size, policy);
    return { id, partition, key, slot, slots: ring.slots, dataFragments, pieceLength: length, blobSize: size };
  }
}

export function ringOf(layout: Layout, policy: number): Ring {
  const ring = layout.rings.find((candidate) => candidate.policy.index === policy);
  if (!ring) throw new ObjectError('no-such-policy', `There is no storage policy ${policy}.`);
  return ring;
}
