import { ApiError, ConnectionError, createClient, type Client } from '@granary/client';
import { delegatedKeyApi, errorCatalogue } from '@granary/contract';
import { fail } from '@granary/kernel';
import type { PortalActor } from '../actor.ts';
import type { PortalArray } from '../arrays/array.ts';
import type { CloudService } from '../clouds/service.ts';
import type { Tools } from '../tools.ts';

/** Whom the array is asked for. */
export interface Asked {
  readonly array: PortalArray;
  /** The account on object storage that was opened for the caller, by its id there. */
  readonly account: string | undefined;
  /** Whether the array itself is the caller's, or the caller an administrator. */
  readonly ofArray: boolean;
}

/** A key that the portal has at an array; it never leaves these two. */
export interface HeldKey {
  readonly id: string;
  readonly key: string;
  readonly username: string;
  readonly role: string;
  readonly account_id: string | null;
  readonly account_name: string | null;
}

interface Holder {
  readonly actorId: string;
  readonly sessionId: number | undefined;
}

interface Asking extends Holder {
  readonly held: Promise<HeldKey>;
  /** The session ended, or the rights changed, before the array had answered. */
  isOver: boolean;
}

interface Entry extends Holder {
  readonly held: HeldKey;
  readonly array: PortalArray;
  readonly endsAt: number;
  readonly idleMs: number;
  usedAt: number;
}

const ANSWER_MS_MAX = 10_000;
const KEYS_MAX = 4_096;
/** Before the array ends it. */
const MARGIN_MS = 60_000;

/** The keys of people inside arrays: asked for when first needed, renewed before they end, dropped with the session. */
export class PassageKeys {
  readonly #tools: Tools;
  readonly #clouds: CloudService;
  readonly #entries = new Map<string, Entry>();
  /** Requests that need the same key wait for the one that asks for it. */
  readonly #asking = new Map<string, Asking>();

  constructor(tools: Tools, clouds: CloudService) {
    this.#tools = tools;
    this.#clouds = clouds;
  }

  obtain(actor: PortalActor, asked: Asked): Promise<HeldKey> {
    const name = nameOf(actor, asked);
    const entry = this.#entries.get(name);
    const now = this.#tools.clock.now();
    if (entry && isGood(entry, now)) {
      entry.usedAt = now;
      return Promise.resolve(entry.held);
    }
    return (this.#asking.get(name) ?? this.#begin(name, actor, asked)).held;
  }

  #begin(name: string, actor: PortalActor, asked: Asked): Asking {
    const held = this.#ask(actor, asked)
      .then((entry) => this.#keep(name, entry, asking.isOver))
      .finally(() => {
        if (this.#asking.get(name) === asking) this.#asking.delete(name);
      });
    const asking: Asking = { held, actorId: actor.id, sessionId: actor.sessionId, isOver: false };
    this.#asking.set(name, asking);
    return asking;
  }

  #keep(name: string, entry: Entry, isOver: boolean): HeldKey {
    if (isOver) {
      void this.#drop(entry);
      throw fail('invalid_credentials');
    }
    this.#makeRoom(entry.usedAt);
    this.#entries.set(name, entry);
    return entry.held;
  }

  /** The array does not know the key any more: it was restarted, or the user changed. */
  forget(actor: PortalActor, asked: Asked, { id }: HeldKey): void {
    const name = nameOf(actor, asked);
    if (this.#entries.get(name)?.held.id === id) this.#entries.delete(name);
  }

  /** Whether the array still knows the key: asked before what cannot be sent twice. */
  async isKnown(array: PortalArray, { id }: HeldKey): Promise<boolean> {
    try {
      await this.#client(array).delegatedKeys.check({ id });
      return true;
    } catch (error) {
      if (isRefusal(error, 'delegated_key_unknown')) return false;
      throw explained(error, array, '');
    }
  }

  /** Drops the keys of a session at their arrays; one that does not answer ends them by itself. */
  endSession(sessionId: number): Promise<void> {
    return this.#end((entry) => entry.sessionId === sessionId);
  }

  /** The same for all keys of a user, but those of the session named. */
  endUser(user: string, exceptSession?: number): Promise<void> {
    return this.#end(
      ({ actorId, sessionId }) => actorId === user && (sessionId === undefined || sessionId !== exceptSession),
    );
  }

  async #end(isMeant: (holder: Holder) => boolean): Promise<void> {
    for (const [name, asking] of this.#asking) {
      if (!isMeant(asking)) continue;
      asking.isOver = true;
      this.#asking.delete(name);
    }
    const ended = [...this.#entries].filter(([, entry]) => isMeant(entry));
    for (const [name] of ended) this.#entries.delete(name);
    await Promise.all(ended.map(([, entry]) => this.#drop(entry)));
  }

  async #ask(actor: PortalActor, { array, account, ofArray }: Asked): Promise<Entry> {
    const { username, id: actorId, sessionId } = actor;
    try {
      const { delegated_key: given } = await this.#client(array).delegatedKeys.create({
        username,
        of_array: ofArray,
        for_session: sessionId !== undefined,
        ...(account !== undefined && { account }),
      });
      const { expires_at: expiresAt, idle_seconds: idleSeconds, ...held } = given;
      const usedAt = this.#tools.clock.now();
      const endsAt = Date.parse(expiresAt.replace(' UTC', 'Z').replace(' ', 'T')) - MARGIN_MS;
      const idleMs = idleSeconds * 1000 - MARGIN_MS;
      return { held, array, actorId, sessionId, endsAt, idleMs, usedAt };
    } catch (error) {
      throw explained(error, array, username);
    }
  }

  #makeRoom(now: number): void {
    for (const [name, entry] of this.#entries) if (!isGood(entry, now)) this.#entries.delete(name);
    const [first] = this.#entries.keys();
    if (first !== undefined && this.#entries.size >= KEYS_MAX) this.#entries.delete(first);
  }

  async #drop({ held, array }: Entry): Promise<void> {
    try {
      await this.#client(array).delegatedKeys.delete({ id: held.id });
    } catch (error) {
      this.#tools.log.warn({ error, array: array.name }, 'a key of a session that ended could not be dropped');
    }
  }

  #client(array: PortalArray): Client<typeof delegatedKeyApi> {
    if (array.managementUrl === null) throw unreachable(array);
    const headers = { 'x-access-key': this.#tools.vault.unseal(array.internalKeySealed) };
    const place = { url: array.managementUrl, timeoutMs: ANSWER_MS_MAX, fetch: this.#clouds.fetchToArray(array) };
    return createClient(delegatedKeyApi, { ...place, headers });
  }
}

export function unreachable({ name, managementUrl: address }: PortalArray): Error {
  return fail('array_unreachable', { name, address: address ?? '(no address)' });
}

function nameOf({ id, sessionId }: PortalActor, { array, account, ofArray }: Asked): string {
  return [array.uuid, id, sessionId ?? '', account ?? '', ofArray].join(' ');
}

function isGood({ endsAt, usedAt, idleMs }: Entry, now: number): boolean {
  return now < endsAt && now < usedAt + idleMs;
}

function isRefusal(error: unknown, name: 'no_array_user' | 'delegated_key_unknown'): boolean {
  return error instanceof ApiError && error.status === errorCatalogue[name].code;
}

function explained(error: unknown, array: PortalArray, username: string): unknown {
  if (isRefusal(error, 'no_array_user')) return fail('no_array_user', { username });
  return error instanceof ConnectionError || error instanceof ApiError ? unreachable(array) : error;
}
