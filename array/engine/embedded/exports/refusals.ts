const SILENCE_MS = 60_000;
const REMEMBERED_MAX = 256;

/** A refused initiator retries for ever: it is reported once a minute. */
export class Refusals {
  readonly #reportedAt = new Map<string, number>();

  isNews(initiator: string, address: string, nowMs: number): boolean {
    const key = `${address} ${initiator}`;
    const last = this.#reportedAt.get(key);
    if (last !== undefined && nowMs - last < SILENCE_MS) return false;
    if (last === undefined && this.#reportedAt.size >= REMEMBERED_MAX && !this.#dropExpired(nowMs)) return false;
    this.#reportedAt.set(key, nowMs);
    return true;
  }

  #dropExpired(nowMs: number): boolean {
    for (const [key, at] of this.#reportedAt) if (nowMs - at >= SILENCE_MS) this.#reportedAt.delete(key);
    return this.#reportedAt.size < REMEMBERED_MAX;
  }
}
