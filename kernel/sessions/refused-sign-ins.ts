import type { Clock } from '../clock.ts';

const WINDOW_MS = 10 * 60_000;
const EVENTS_MAX = 20;

/** Which refused sign-ins become events: one for a name and an address in ten minutes, and twenty in all. */
export class RefusedSignIns {
  readonly #clock: Clock;
  #since = 0;
  readonly #told = new Set<string>();

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  /** `last` is the last one of this window: the event says that others are left out. */
  admit(name: string, ip: string): 'yes' | 'last' | 'no' {
    const now = this.#clock.now();
    if (now - this.#since >= WINDOW_MS) {
      this.#since = now;
      this.#told.clear();
    }
    const key = `${ip} ${name}`;
    if (this.#told.size >= EVENTS_MAX || this.#told.has(key)) return 'no';
    this.#told.add(key);
    return this.#told.size === EVENTS_MAX ? 'last' : 'yes';
  }
}
