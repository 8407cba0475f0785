import { ApiError, cloudClient, type CloudClient } from '@granary/client';
import type { Inventory } from '@granary/contract/cloud';
import {
  badParameter,
  fail,
  GranaryError,
  guardedFetch,
  outgoingAddress,
  parseHostAndPort,
  type Vault,
} from '@granary/kernel';
import type { CloudRow } from './repository.ts';

/** Where `granary cloud` listens unless it is told otherwise. */
export const CLOUD_PORT_DEFAULT = 7401;
const ANSWER_MS_MAX = 3000;
const WORK_MS_MAX = 10_000;

export interface CloudLogin {
  readonly address: string;
  readonly user: string;
  readonly key: string;
}

/** Reads the inventory of the cloud at an address somebody typed in; says what is wrong within five seconds. */
export async function readInventory({ address, user, key }: CloudLogin): Promise<Inventory> {
  const place = parseHostAndPort(address, CLOUD_PORT_DEFAULT);
  if (!place) throw badParameter('ip', 'must be an address, or address:port');
  const host = await resolved(place.host, address);
  const link = cloudClient({ url: `http://${host}:${place.port}`, user, key, timeoutMs: ANSWER_MS_MAX });
  try {
    const { data } = await link.inventory.get();
    if (!isInventory(data)) throw new Error('what it says is not the inventory of a cloud');
    return data;
  } catch (error) {
    throw explained(error, address);
  }
}

/** Whatever listens there may say anything. A newer cloud may say more, so only what is needed is looked for. */
function isInventory(said: Partial<Inventory> | undefined): said is Inventory {
  if (typeof said?.uuid !== 'string' || !said.flash_cache || !said.vlans) return false;
  const { drive_types, engine_types, app_engines, zones, policy_types } = said;
  return [drive_types, engine_types, app_engines, zones, policy_types].every(Array.isArray);
}

async function resolved(host: string, address: string): Promise<string> {
  try {
    return await outgoingAddress(host);
  } catch (error) {
    throw error instanceof GranaryError ? error : explained(error, address);
  }
}

function explained(error: unknown, address: string): GranaryError {
  if (error instanceof ApiError && (error.status === 401 || error.status === 429))
    return fail('cloud_refused', { address });
  const reason = error instanceof Error ? error.message : String(error);
  return fail('cloud_unreachable', { address, reason: reason.replace(/\.$/, '') });
}

/** Connections to the clouds on record, made once and made anew when a cloud's address or key changes. */
export class CloudLinks {
  readonly #vault: Vault;
  readonly #links = new Map<number, { sealed: string; link: CloudClient }>();

  constructor(vault: Vault) {
    this.#vault = vault;
  }

  to(cloud: CloudRow): CloudClient {
    const sealed = `${cloud.address} ${cloud.admin_key_sealed}`;
    const known = this.#links.get(cloud.id);
    if (known?.sealed === sealed) return known.link;
    const key = this.#vault.unseal(cloud.admin_key_sealed);
    const link = cloudClient({
      url: `http://${withPort(cloud.address)}`,
      user: cloud.admin_user,
      key,
      timeoutMs: WORK_MS_MAX,
      fetch: guardedFetch,
    });
    this.#links.set(cloud.id, { sealed, link });
    return link;
  }
}

function withPort(address: string): string {
  const place = parseHostAndPort(address, CLOUD_PORT_DEFAULT);
  if (!place) return address;
  return place.host.includes(':') ? `[${place.host}]:${place.port}` : `${place.host}:${place.port}`;
}
