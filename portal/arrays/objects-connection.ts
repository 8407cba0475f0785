import { ApiError, ConnectionError, objectsClient, StillRunning, type ObjectsClient } from '@granary/client';
import { errorCatalogue } from '@granary/contract';
import { fail, GranaryError, type Vault } from '@granary/kernel';
import type { PortalArray } from './array.ts';

const ANSWER_MS_MAX = 10_000;

/** The array understood and said no: asking again would not help. */
export class ArrayRefusal extends GranaryError {
  constructor(problem: string) {
    super('not_supported', problem);
  }
}

/** Calls of the management interface of object storage arrays, with the key the portal has there. */
export class ObjectsConnection {
  readonly #vault: Vault;
  readonly #fetchTo: (array: PortalArray) => typeof fetch;
  readonly #allow: (array: PortalArray) => Promise<void>;

  /** `allow` rejects while the array's cloud belongs to another portal: a copy must not act on its arrays either. */
  constructor(
    vault: Vault,
    fetchTo: (array: PortalArray) => typeof fetch,
    allow: (array: PortalArray) => Promise<void>,
  ) {
    this.#vault = vault;
    this.#fetchTo = fetchTo;
    this.#allow = allow;
  }

  /** Rejects with `array_unreachable` where trying again may help, and with an `ArrayRefusal` where it would not. */
  async request<T>(
    array: PortalArray,
    question: (client: ObjectsClient) => Promise<T>,
    timeoutMs: number = ANSWER_MS_MAX,
  ): Promise<T> {
    if (array.managementUrl === null) throw unreachable(array);
    await this.#allow(array).catch(() => Promise.reject(unreachable(array)));
    const accessKey = this.#vault.unseal(array.internalKeySealed);
    try {
      const place = { url: array.managementUrl, timeoutMs, fetch: this.#fetchTo(array) };
      return await question(objectsClient({ ...place, accessKey }));
    } catch (error) {
      throw explained(error, array);
    }
  }

  /** The name the portal knows a storage policy by; undefined where the array has none of that name. */
  policyName(array: PortalArray, named: string): Promise<string | undefined> {
    return this.request(array, async (client) => {
      try {
        return (await client.policies.get({ name: named })).policy.display_name;
      } catch (error) {
        if (error instanceof ApiError && error.status === errorCatalogue.objs_policy_not_found.code) return undefined;
        throw error;
      }
    });
  }
}

/** Whether asking again later may help. */
export function isUnreachable(error: unknown): error is GranaryError {
  return error instanceof GranaryError && error.entry === 'array_unreachable';
}

function explained(error: unknown, array: PortalArray): unknown {
  const isBroken = error instanceof ApiError && error.status === errorCatalogue.internal.code;
  if (error instanceof ConnectionError || error instanceof StillRunning || isBroken) return unreachable(array);
  return error instanceof ApiError ? new ArrayRefusal(`Array ${array.name} refused: ${error.message}`) : error;
}

function unreachable({ name, managementUrl: address }: PortalArray): GranaryError {
  return fail('array_unreachable', { name, address: address ?? '(no address)' });
}
