import { randomFillSync } from 'node:crypto';

const ID_BYTES = 16;
/** Bytes that give the partition and the place of the blob in it; the rest is random for each blob. */
const SHARED_BYTES = 4;
/**
 * So long a group is open. Not for as long as its blobs take to be written: a slow drive would have the longest groups,
 * and with them most of what is written.
 */
const GROUP_MS = 4;
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
 * Ids of small blobs. Those of the same moment begin alike, so they go to the same drives, where one sync does for all
 * of them, and stand side by side in the index. Groups are short and each begins at random: over time every partition
 * gets its share.
 */
export class GroupedIds {
  readonly #nowMs: () => number;
  #first: Uint8Array | undefined;
  #endMs = 0;
  #length = 0;
  #bytes = 0;

  constructor(nowMs: () => number = () => performance.now()) {
    this.#nowMs = nowMs;
  }

  next(bytes: number): Uint8Array {
    const id = newId();
    // A large one gains nothing, and would leave no space for others.
    if (bytes > GROUP_BYTES_MAX) return id;
    const nowMs = this.#nowMs();
    if (this.#first && this.#hasSpaceFor(bytes, nowMs)) {
      id.set(this.#first.subarray(0, SHARED_BYTES));
    } else {
      this.#first = id;
      this.#endMs = nowMs + GROUP_MS;
      this.#length = 0;
      this.#bytes = 0;
    }
    this.#length += 1;
    this.#bytes += bytes;
    return id;
  }

  #hasSpaceFor(bytes: number, nowMs: number): boolean {
    return nowMs < this.#endMs && this.#length < GROUP_LENGTH_MAX && this.#bytes + bytes <= GROUP_BYTES_MAX;
  }
}
