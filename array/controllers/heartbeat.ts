import type { Clock } from '@granary/kernel';

const BEAT_MS = 5_000;

/** Shows that the controller lives: when its own loop last turned, and when it last had its cloud on the line. */
export class Heartbeat {
  readonly #clock: Clock;
  #timer: NodeJS.Timeout | undefined;
  #own: number;
  #cloud: number;

  constructor(clock: Clock) {
    this.#clock = clock;
    this.#own = this.#cloud = clock.now();
  }

  start(): void {
    this.#timer = setInterval(() => this.#beat(), BEAT_MS);
  }

  get own(): number {
    return this.#own;
  }

  get cloud(): number {
    return this.#cloud;
  }

  stop(): void {
    clearInterval(this.#timer);
  }

  #beat(): void {
    this.#own = this.#clock.now();
    if (process.connected) this.#cloud = this.#own;
  }
}
