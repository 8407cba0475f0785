import { randomFillSync } from 'node:crypto';

const ID_BYTES = 16;
/** Tells the partition, and where in it the blob stands; the rest is random for each blob. */
const SHARED_BYTES = 4;
const GROUP_LENGTH_MAX = 256;
const GROUP_BYTES_MAX = 512 * 1024;

const random = Buffer.alloc(ID_BYTES * 256);
let randomUsed = random.length;

/** Random numbers are asked for many at a time: one at a time costs more than the rest of a small write. */
export function newId(): Uint8Array {
  if (randomUsed === random.length) {
    randomFillSync(random);
    randomUsed = 0;
  }
  const id = Uint8Array.from(random.subarray(randomUsed, randomUsed + ID_BYTES));
  random.fill(0, randomUsed, randomUsed + ID_BYTES);
  randomUsed += ID_BYTES;
  return id;
}

/**
 * Ids of small blobs. Those that are written at the same time begin alike, so they go to the same drives, where one
 * sync does for all of them, and stand side by side in the index. Groups are short, each begins at random, and one
 * ends when nobody is writing: over time every partition gets its share.
 */
export class GroupedIds {
  #first: Uint8Array | undefined;
  #length = 0;
  #bytes = 0;
  #writing = 0;

  /** `done` must be called once, when the blob is written or given up. */
  begin(bytes: number): Uint8Array {
    const id = newId();
    this.#writing += 1;
    this.#length += 1;
    this.#bytes += bytes;
    if (this.#first && this.#length <= GROUP_LENGTH_MAX && this.#bytes <= GROUP_BYTES_MAX) {
      id.set(this.#first.subarray(0, SHARED_BYTES));
    } else {
      this.#first = id;
      this.#length = 1;
      this.#bytes = bytes;
    }
    return id;
  }

  done(): void {
    this.#writing -= 1;
    if (this.#writing === 0) this.#first = undefined;
  }
}
