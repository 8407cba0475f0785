import type { Clock } from '@granary/kernel';

const BEAT_MS = 5_000;

/** When the array last had its cloud on the line. */
export class Heartbeat {
  readonly #clock: Clock;
  #timer: NodeJS.Timeout | undefined;
  #cloud: number;

  constructor(clock: Clock) {
    this.#clock = clock;
    this.#cloud = clock.now();
  }

  start(): void {
    this.#timer = setInterval(() => this.#beat(), BEAT_MS);
  }

  get cloud(): number {
    return this.#cloud;
  }

  stop(): void {
    clearInterval(this.#timer);
  }

  #beat(): void {
    if (process.connected) this.#cloud = this.#clock.now();
  }
}
