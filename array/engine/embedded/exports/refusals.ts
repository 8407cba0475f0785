const SILENCE_MS = 60_000;
const REMEMBERED_MAX = 256;

/** An initiator that may not come in tries again for ever: it is told of once a minute. */
export class Refusals {
  readonly #told = new Map<string, number>();

  isNews(initiator: string, address: string, nowMs: number): boolean {
    const key = `${address} ${initiator}`;
    const last = this.#told.get(key);
    if (last !== undefined && nowMs - last < SILENCE_MS) return false;
    if (last === undefined && this.#told.size >= REMEMBERED_MAX && !this.#forgetOld(nowMs)) return false;
    this.#told.set(key, nowMs);
    return true;
  }

  #forgetOld(nowMs: number): boolean {
    for (const [key, at] of this.#told) if (nowMs - at >= SILENCE_MS) this.#told.delete(key);
    return this.#told.size < REMEMBERED_MAX;
  }
}
