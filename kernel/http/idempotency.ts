import type { Vault } from '../auth/vault.ts';
import type { Clock } from '../clock.ts';
import { badParameter, fail } from '../errors.ts';
import type { Store } from '../store/index.ts';
import type { Answer } from './envelope.ts';
import { deleteKey, deleteKeysBefore, findKey, insertKey, saveAnswer, type UsedKey } from './idempotency-repository.ts';

const KEEP_MS = 24 * 3600 * 1000;
const KEY_LENGTH_MAX = 255;
const TOO_MANY = 429;

interface Asked {
  readonly actor: string;
  readonly key: string;
  /** Everything that identifies a request. */
  readonly request: unknown;
}

/**
 * A request with the same key within 24 hours is executed once and gets the first answer. The key is claimed before the
 * work starts; if a crash loses the answer, a repeat gets an error instead of a second execution.
 */
export class Idempotency {
  readonly #store: Store;
  readonly #vault: Vault;
  readonly #clock: Clock;
  /** Requests in progress: a repeat waits for the answer. */
  readonly #working = new Map<string, Promise<Answer>>();

  constructor(store: Store, vault: Vault, clock: Clock) {
    this.#store = store;
    this.#vault = vault;
    this.#clock = clock;
  }

  /** `act` always resolves: an error is an answer, too. */
  async once(asked: Asked, act: () => Promise<Answer>): Promise<Answer> {
    const { actor, key } = asked;
    if (key.length < 1 || key.length > KEY_LENGTH_MAX)
      throw badParameter('Idempotency-Key', `must have 1 to ${KEY_LENGTH_MAX} characters`);
    const name = JSON.stringify([actor, key]);
    const earlier = await this.#claim(asked);
    if (earlier) return this.#working.get(name) ?? this.#replay(key, earlier);
    // Commits are acknowledged in order, so the request that claimed the key gets here before a repeat that found it
    // claimed.
    const work = act().then((answer) => this.#keep(actor, key, answer));
    this.#working.set(name, work);
    try {
      return await work;
    } finally {
      this.#working.delete(name);
    }
  }

  /** The record of the key; undefined when this request has claimed it. */
  #claim({ actor, key, request }: Asked): Promise<UsedKey | undefined> {
    const now = this.#clock.now();
    const mark = this.#vault.mark(textOf(request));
    return this.#store.write((tx) => {
      deleteKeysBefore(tx, now - KEEP_MS);
      const used = findKey(tx, { actor, key });
      if (used && used.requestMark !== mark) throw fail('idempotency_mismatch', { key });
      if (!used) insertKey(tx, { actor, key }, mark, now);
      return used;
    });
  }

  #replay(key: string, { answer }: UsedKey): Answer {
    if (!answer) throw fail('idempotency_interrupted', { key });
    return { status: answer.status, body: this.#vault.unseal(answer.bodySealed) };
  }

  /** An internal error, or a request to come back later, is not stored: the caller may try again. */
  #keep(actor: string, key: string, answer: Answer): Promise<Answer> {
    const { status, body } = answer;
    return this.#store.write((tx) => {
      if (status >= 500 || status === TOO_MANY) deleteKey(tx, { actor, key });
      else saveAnswer(tx, { actor, key }, { status, bodySealed: this.#vault.seal(body as string) });
      return answer;
    });
  }
}

/** Uploads are identified by their bytes. */
function textOf(request: unknown): string {
  return JSON.stringify(request, (_, value: unknown) =>
    value instanceof Uint8Array ? Buffer.from(value).toString('base64') : value,
  );
}
