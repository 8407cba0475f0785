import type { IncomingMessage } from 'node:http';
import {
  fail,
  hasBody,
  refuseRelay,
  relay,
  sentHeaders,
  smallBody,
  Underway,
  GranaryError,
  type RelayLimits,
  type StreamExchange,
  type StreamRoute,
} from '@granary/kernel';
import type { ArrayIdentity } from '@granary/contract/portal';
import type { RecordOf } from '@granary/contract';
import { findOpenAccount } from '../accounts/repository.ts';
import { scopeOf, type PortalActor } from '../actor.ts';
import { findArray } from '../arrays/repository.ts';
import type { ArrayStates } from '../arrays/states.ts';
import type { CloudService } from '../clouds/service.ts';
import type { ArrayId } from '../ids.ts';
import type { Tools } from '../tools.ts';
import { readPassage, type PassageAddress } from './address.ts';
import { PassageKeys, unreachable, type Asked, type HeldKey } from './keys.ts';

/*
 * People reach their arrays through the portal under its own origin: /via/{array_id}/api is the management interface of
 * the array, /via/{array_id}/s3 the objects it keeps. The portal says who is asking; what they may do is the array's to
 * say, by the user it has of the same name. The array gives the portal a key for that person, which stays here.
 */

const LIMITS: RelayLimits = { idleMs: 120_000, answerMs: 600_000 };
/** Bodies up to this size are sent again when the array did not know the key; before larger ones it is asked. */
const REPEATED_BYTES_MAX = 256 * 1024;

interface Parts {
  readonly tools: Tools;
  readonly states: ArrayStates;
  readonly clouds: CloudService;
}

interface Passing extends StreamExchange<PortalActor> {
  readonly address: PassageAddress;
  readonly asked: Asked;
  readonly signal: AbortSignal;
  readonly body: Buffer | undefined;
}

export class Passage {
  readonly route: StreamRoute<PortalActor>;
  readonly #tools: Tools;
  readonly #states: ArrayStates;
  readonly #clouds: CloudService;
  readonly #keys: PassageKeys;
  readonly #underway = new Underway();

  constructor({ tools, states, clouds }: Parts) {
    this.#tools = tools;
    this.#states = states;
    this.#clouds = clouds;
    this.#keys = new PassageKeys(tools, clouds);
    this.route = {
      name: 'passage',
      path: '/via/*',
      serve: (exchange) => this.#serve(exchange),
      refuse: (error, exchange) => refuseRelay(error, exchange, readPassage(urlOf(exchange.request))?.door ?? 'api'),
    };
  }

  /** Who the caller is inside the array. */
  async identity(actor: PortalActor, arrayId: ArrayId): Promise<RecordOf<typeof ArrayIdentity>> {
    try {
      const { username, role, account_id, account_name } = await this.#keys.obtain(actor, this.#asked(actor, arrayId));
      return { known: true, message: null, username, role, account_id, account_name };
    } catch (error) {
      if (!(error instanceof GranaryError) || error.entry !== 'no_array_user') throw error;
      const nobody = { username: null, role: null, account_id: null, account_name: null };
      return { known: false, message: error.message, ...nobody };
    }
  }

  /** Cuts off what the session has under way, and drops its keys at the arrays. */
  async endSession(sessionId: number): Promise<void> {
    this.#underway.endSession(sessionId);
    await this.#keys.endSession(sessionId);
  }

  /** The same for all a user has under way, but for the session named. */
  async endUser(user: string, exceptSession?: number): Promise<void> {
    this.#underway.endUser(user, exceptSession);
    await this.#keys.endUser(user, exceptSession);
  }

  async #serve(exchange: StreamExchange<PortalActor>): Promise<void> {
    const { actor, request } = exchange;
    const address = readPassage(urlOf(request));
    if (!address) throw fail('unknown_path', { method: request.method ?? '', path: urlOf(request).slice(0, 200) });
    const asked = this.#asked(actor, address.arrayId);
    if (address.door === 's3' && asked.array.product !== 'object_storage')
      throw fail('not_object_storage', { name: asked.array.name });
    await this.#clouds.claimed(asked.array.cloudId).catch(() => Promise.reject(unreachable(asked.array)));
    await this.#underway.run(actor, async (signal) => {
      const body = await smallBody(request, REPEATED_BYTES_MAX);
      await this.#pass({ ...exchange, address, asked, signal, body });
    });
  }

  /** The array in the caller's scope; another's is not found, but for who has an account there. */
  #asked(actor: PortalActor, arrayId: ArrayId): Asked {
    return this.#tools.store.read((db) => {
      const account = findOpenAccount(db, arrayId, actor.userId)?.remoteId ?? undefined;
      const ofArray = findArray(db, arrayId, scopeOf(actor)) !== undefined;
      const scope = account === undefined ? scopeOf(actor) : null;
      // One that is locked down may be looked at, and itself refuses what would change it.
      const array = this.#states.requireState(db, arrayId, scope, 'reaching it', ['created']);
      return { array, account, ofArray };
    });
  }

  async #pass(passing: Passing): Promise<void> {
    const { actor, asked } = passing;
    const first = await this.#keys.obtain(actor, asked);
    const isGood = passing.body !== undefined || (await this.#keys.isKnown(asked.array, first));
    if (isGood && (await this.#relay(passing, first, true))) return;
    this.#keys.forget(actor, asked, first);
    await this.#relay(passing, await this.#keys.obtain(actor, asked), false);
  }

  /** False when the array did not know the key, and the request can be made again with another. */
  async #relay(passing: Passing, { key }: HeldKey, mayRepeat: boolean): Promise<boolean> {
    const { request, response, address, asked, signal, body } = passing;
    const { array } = asked;
    const { managementUrl } = array;
    if (managementUrl === null) throw unreachable(array);
    const start = this.#clouds.requestsToArray(array);
    try {
      return await relay({
        request,
        response,
        body,
        signal,
        limits: LIMITS,
        start: (head) =>
          start(new URL(managementUrl), {
            ...head,
            method: request.method ?? 'GET',
            path: address.target,
            headers: { ...sentHeaders(request.headers), ...framing(request), 'x-access-key': key },
            isFresh: body === undefined,
          }),
        take: ({ headers }) => !mayRepeat || headers['x-granary-key'] !== 'unknown',
      });
    } catch (error) {
      if (error instanceof GranaryError) throw error;
      this.#tools.log.warn({ error, array: array.name }, 'an array did not answer a request that was passed on');
      throw unreachable(array);
    }
  }
}

/** What came in pieces of no stated length goes on so, whatever the method. */
function framing(request: IncomingMessage): Record<string, string> {
  const isChunked = hasBody(request) && request.headers['content-length'] === undefined;
  return isChunked ? { 'transfer-encoding': 'chunked' } : {};
}

function urlOf({ url }: IncomingMessage): string {
  return url ?? '';
}
