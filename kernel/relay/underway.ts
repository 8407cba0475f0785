import { fail } from '../errors.ts';
import { personOf, type Actor } from '../http/types.ts';

/** Of one person; a browser with several tabs has some streams of events besides its requests. */
const PER_PERSON_MAX = 64;

interface Relaying {
  readonly actor: Whose;
  readonly ending: AbortController;
}

type Whose = Pick<Actor, 'id' | 'sessionId' | 'person'>;

/** Requests that are being passed on, so that nobody takes all there is and each ends with the rights it began with. */
export class Underway {
  readonly #byPerson = new Map<string, Set<Relaying>>();

  async run(actor: Whose, work: (signal: AbortSignal) => Promise<void>): Promise<void> {
    const person = personOf(actor);
    const own = this.#byPerson.get(person) ?? new Set();
    if (own.size >= PER_PERSON_MAX) throw fail('passages_limit', { max: PER_PERSON_MAX });
    const relaying = { actor, ending: new AbortController() };
    this.#byPerson.set(person, own.add(relaying));
    try {
      await work(relaying.ending.signal);
    } finally {
      own.delete(relaying);
      if (own.size === 0) this.#byPerson.delete(person);
    }
  }

  endSession(sessionId: number): void {
    this.#end((actor) => actor.sessionId === sessionId);
  }

  /** All requests with the rights of a user, of any person, but those of the session named. */
  endUser(user: string, exceptSession?: number): void {
    this.#end(({ id, sessionId }) => id === user && (sessionId === undefined || sessionId !== exceptSession));
  }

  #end(isMeant: (actor: Whose) => boolean): void {
    for (const own of this.#byPerson.values())
      for (const { actor, ending } of own) if (isMeant(actor)) ending.abort(fail('invalid_credentials'));
  }
}
