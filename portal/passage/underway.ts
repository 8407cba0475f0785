import { fail } from '@granary/kernel';
import type { PortalActor } from '../actor.ts';

/** Of one user, over all arrays; a browser with several tabs has some streams of events besides its requests. */
const PER_USER_MAX = 64;

/** Requests that are being passed on, so that nobody takes all there is and a session takes its own with it. */
export class Underway {
  readonly #byUser = new Map<string, number>();
  readonly #bySession = new Map<number, Set<AbortController>>();

  async run(actor: PortalActor, work: (signal: AbortSignal) => Promise<void>): Promise<void> {
    const { id, sessionId } = actor;
    const count = this.#byUser.get(id) ?? 0;
    if (count >= PER_USER_MAX) throw fail('passages_limit', { max: PER_USER_MAX });
    this.#byUser.set(id, count + 1);
    const ending = new AbortController();
    if (sessionId !== undefined) this.#add(sessionId, ending);
    try {
      await work(ending.signal);
    } finally {
      this.#leave(id);
      if (sessionId !== undefined) this.#remove(sessionId, ending);
    }
  }

  endSession(sessionId: number): void {
    for (const ending of this.#bySession.get(sessionId) ?? []) ending.abort(fail('invalid_credentials'));
  }

  #leave(id: string): void {
    const left = (this.#byUser.get(id) ?? 1) - 1;
    if (left > 0) this.#byUser.set(id, left);
    else this.#byUser.delete(id);
  }

  #add(sessionId: number, ending: AbortController): void {
    const known = this.#bySession.get(sessionId) ?? new Set();
    this.#bySession.set(sessionId, known.add(ending));
  }

  #remove(sessionId: number, ending: AbortController): void {
    const known = this.#bySession.get(sessionId);
    known?.delete(ending);
    if (known?.size === 0) this.#bySession.delete(sessionId);
  }
}
