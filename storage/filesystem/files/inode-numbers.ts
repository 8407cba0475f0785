import { FIRST_INODE, KIND, OWN_INODE } from '../store/layout.ts';
import type { Transaction } from '../store/transaction.ts';

/** Numbers are reserved in portions, so that not every creation of a file records the next one. */
const PORTION = 1024;
const VALUE_BYTES = 8;

/**
 * Numbers are never reused, unless the volume is reverted to an earlier state; then the generation, which starts at a
 * random value with every mount, distinguishes the files.
 */
export class InodeNumbers {
  #next = 0;
  #generation: number;

  constructor(generation: number) {
    this.#generation = generation;
  }

  allocate(transaction: Transaction): { readonly inode: number; readonly generation: number } {
    const ceiling = transaction.get(OWN_INODE, KIND.inodeCeiling, 0)?.readDoubleLE() ?? FIRST_INODE;
    if (this.#next === 0) this.#next = ceiling;
    if (this.#next >= ceiling) {
      const value = Buffer.alloc(VALUE_BYTES);
      value.writeDoubleLE(this.#next + PORTION);
      transaction.put(OWN_INODE, KIND.inodeCeiling, 0, value);
    }
    this.#generation = (this.#generation + 1) >>> 0;
    return { inode: this.#next++, generation: this.#generation };
  }
}
