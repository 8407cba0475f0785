import { fail } from '../errors.ts';
import type { Actor } from '../http/types.ts';

/** Of one user; a browser with several tabs has some streams of events besides its requests. */
const PER_USER_MAX = 64;

interface Relaying {
  readonly sessionId: number | undefined;
  readonly ending: AbortController;
}

/** Requests that are being passed on, so that no user takes all there is and each ends with the rights it began with. */
export class Underway {
  readonly #byUser = new Map<string, Set<Relaying>>();

  async run(
    { id, sessionId }: Pick<Actor, 'id' | 'sessionId'>,
    work: (signal: AbortSignal) => Promise<void>,
  ): Promise<void> {
    const own = this.#byUser.get(id) ?? new Set();
    if (own.size >= PER_USER_MAX) throw fail('passages_limit', { max: PER_USER_MAX });
    const relaying = { sessionId, ending: new AbortController() };
    this.#byUser.set(id, own.add(relaying));
    try {
      await work(relaying.ending.signal);
    } finally {
      own.delete(relaying);
      if (own.size === 0) this.#byUser.delete(id);
    }
  }

  endSession(sessionId: number): void {
    for (const own of this.#byUser.values()) end(own, (relaying) => relaying.sessionId === sessionId);
  }

  /** All of a user, but those of the session named. */
  endUser(user: string, exceptSession?: number): void {
    const own = this.#byUser.get(user) ?? [];
    end(own, ({ sessionId }) => sessionId === undefined || sessionId !== exceptSession);
  }
}

function end(all: Iterable<Relaying>, isMeant: (relaying: Relaying) => boolean): void {
  for (const relaying of all) if (isMeant(relaying)) relaying.ending.abort(fail('invalid_credentials'));
}
