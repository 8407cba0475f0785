/** The time, injected: tests move it, billing and expiry follow. */
export interface Clock {
  /** Milliseconds since the epoch, UTC. */
  now(): number;
}

export const systemClock: Clock = { now: () => Date.now() };

export class ManualClock implements Clock {
  #nowMs: number;

  constructor(start: string | number) {
    this.#nowMs = new Date(start).getTime();
  }

  now(): number {
    return this.#nowMs;
  }

  set(time: string | number): void {
    this.#nowMs = new Date(time).getTime();
  }

  advance(ms: number): void {
    this.#nowMs += ms;
  }
}

/** `YYYY-MM-DD HH:MM:SS` */
export function formatSeconds(ms: number): string {
  return new Date(ms).toISOString().slice(0, 19).replace('T', ' ');
}

/** `YYYY-MM-DD HH:MM:SS UTC` */
export function formatUtc(ms: number): string {
  return `${formatSeconds(ms)} UTC`;
}

/** `YYYY-MM-DDTHH:MM:SS+0000` */
export function formatIso(ms: number): string {
  return `${new Date(ms).toISOString().slice(0, 19)}+0000`;
}
