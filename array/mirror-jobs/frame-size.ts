import { FRAME_BYTES_MAX } from './frames.ts';

const BLOCK = 4096;
const BYTES_MIN = 64 * 1024;
const BYTES_FIRST = 2 ** 20;
const QUICK_MS = 500;
const SLOW_MS = 3_000;
/** Under a limit, frames are small enough to be sent so often. */
const FRAMES_PER_SECOND = 2;

/** How much travels at once: much where the way is fast, little where it is slow or breaks often. */
export class FrameSize {
  #bytes = BYTES_FIRST;

  /** `limit` is bytes a second; 0 is none. */
  under(limit: number): number {
    if (limit === 0) return this.#bytes;
    const wanted = Math.floor(limit / FRAMES_PER_SECOND / BLOCK) * BLOCK;
    return Math.min(this.#bytes, Math.max(BYTES_MIN, wanted));
  }

  took(ms: number): void {
    if (ms < QUICK_MS) this.#bytes = Math.min(FRAME_BYTES_MAX, this.#bytes * 2);
    else if (ms > SLOW_MS) this.failed();
  }

  failed(): void {
    this.#bytes = Math.max(BYTES_MIN, this.#bytes / 2);
  }
}
