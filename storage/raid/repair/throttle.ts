import { setTimeout as sleep } from 'node:timers/promises';
import { StorageError } from '../../errors.ts';

export interface ResyncSpeed {
  readonly minimumBytesPerSecond: number;
  readonly maximumBytesPerSecond: number;
}

const SPEED_DEFAULT: ResyncSpeed = {
  minimumBytesPerSecond: 8 * 1024 * 1024,
  maximumBytesPerSecond: 1024 * 1024 * 1024,
};
const BUSY_MS = 200;
const SLEEP_MS_MAX = 200;
/** Shorter sleeps cost more than they delay; they accumulate until they are worth it. */
const SLEEP_MS_MIN = 2;

/** Paces background work: at full speed while there are no other requests, at the minimum speed while there are. */
export class Throttle {
  readonly #nowMs: () => number;
  readonly #foregroundCount: () => number;
  #speed = SPEED_DEFAULT;
  #seenCount = 0;
  #busyUntilMs = 0;
  #freeAtMs = 0;
  #pacedBytes = 0;

  constructor(nowMs: () => number, foregroundCount: () => number) {
    this.#nowMs = nowMs;
    this.#foregroundCount = foregroundCount;
  }

  get speed(): ResyncSpeed {
    return this.#speed;
  }

  /** Bytes of background work since the group was opened. */
  get pacedBytes(): number {
    return this.#pacedBytes;
  }

  setSpeed(speed: ResyncSpeed): void {
    const { minimumBytesPerSecond: minimum, maximumBytesPerSecond: maximum } = speed;
    if (!(minimum > 0 && maximum >= minimum && Number.isFinite(maximum))) {
      throw new StorageError('invalid', 'A resync speed is a minimum above zero and a maximum that is not below it.');
    }
    this.#speed = { ...speed };
    this.#freeAtMs = 0;
  }

  /** Waits for the time that `bytes` take at the current speed. */
  async pace(bytes: number): Promise<void> {
    this.#pacedBytes += bytes;
    const nowMs = this.#nowMs();
    const count = this.#foregroundCount();
    if (count !== this.#seenCount) this.#busyUntilMs = nowMs + BUSY_MS;
    this.#seenCount = count;
    const isBusy = nowMs < this.#busyUntilMs;
    const rate = isBusy ? this.#speed.minimumBytesPerSecond : this.#speed.maximumBytesPerSecond;
    this.#freeAtMs = Math.max(this.#freeAtMs, nowMs) + (bytes / rate) * 1000;
    // In short sleeps, so that a new speed takes effect soon.
    for (let waitMs = this.#freeAtMs - nowMs; waitMs >= SLEEP_MS_MIN; waitMs = this.#freeAtMs - this.#nowMs()) {
      await sleep(Math.min(waitMs, SLEEP_MS_MAX), undefined, { ref: false });
    }
  }
}
