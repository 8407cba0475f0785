import { ApiError, cloudClient, type CloudClient } from '@granary/client';
import type { Inventory } from '@granary/contract/cloud';
import { badParameter, fail, GranaryError, parseHostAndPort, type HostAndPort, type Vault } from '@granary/kernel';
import type { CloudConnections } from '../tls/cloud-connections.ts';
import { ClaimRefused, type CloudClaims } from './claims.ts';
import type { Cloud } from './cloud.ts';
import { trustFor } from './trust.ts';

/** Where `granary cloud` listens by default. */
export const CLOUD_PORT_DEFAULT = 7401;
const ANSWER_MS_MAX = 3000;
/** After a slow handshake there is still time for an answer. */
const ANSWER_MS_MIN = 1000;
const WORK_MS_MAX = 10_000;

export interface CloudLogin {
  readonly address: string;
  readonly user: string;
  readonly key: string;
  /** The certificate it is known by; null: it serves in the clear. */
  readonly trusted: string | null;
}

/** Reads the inventory of a cloud; says what is wrong within five seconds. */
export async function readInventory(
  connections: CloudConnections,
  { address, user, key, trusted }: CloudLogin,
  timeoutMs = ANSWER_MS_MAX,
): Promise<Inventory> {
  const url = urlOf(placeOf(address), trusted);
  const link = cloudClient({ url, user, key, timeoutMs, fetch: connections.fetchTo(trusted, 'cloud') });
  try {
    const { data } = await link.inventory.get();
    if (!isInventory(data)) throw new Error('what it says is not the inventory of a cloud');
    return data;
  } catch (error) {
    throw explained(error, address);
  }
}

interface Unknown extends Omit<CloudLogin, 'trusted'> {
  readonly fingerprint?: string | undefined;
  /** What is trusted for this cloud already. */
  readonly trusted?: string | null | undefined;
}

/** Finds out how the cloud at a given address serves and whether to trust it, and reads its inventory. */
export async function discoverCloud(
  connections: CloudConnections,
  { fingerprint, trusted: before, ...login }: Unknown,
): Promise<{ readonly inventory: Inventory; readonly trusted: string | null }> {
  const { address } = login;
  const place = placeOf(address);
  const end = performance.now() + ANSWER_MS_MAX;
  try {
    const trusted = await trustFor(connections, {
      address,
      place,
      fingerprint,
      trusted: before,
      timeoutMs: ANSWER_MS_MAX,
    });
    const left = Math.max(ANSWER_MS_MIN, Math.round(end - performance.now()));
    return { trusted, inventory: await readInventory(connections, { ...login, trusted }, left) };
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

function explained(error: unknown, address: string): GranaryError {
  if (error instanceof GranaryError) return error;
  // What the connection failed of, one level down, may be an error of ours.
  if (error instanceof Error && error.cause instanceof GranaryError) return error.cause;
  if (error instanceof ApiError && (error.status === 401 || error.status === 429))
    return fail('cloud_refused', { address });
  const reason = error instanceof Error ? error.message : String(error);
  return fail('cloud_unreachable', { address, reason: reason.replace(/\.$/, '') });
}

/** Connections to the clouds on record, made once and made anew when a cloud's address or key changes. */
export class CloudLinks {
  readonly #vault: Vault;
  readonly #connections: CloudConnections;
  readonly #claims: CloudClaims;
  readonly #links = new Map<number, { sealed: string; link: CloudClient }>();

  constructor(vault: Vault, connections: CloudConnections, claims: CloudClaims) {
    this.#vault = vault;
    this.#connections = connections;
    this.#claims = claims;
  }

  to(cloud: Cloud): CloudClient {
    const sealed = `${cloud.address} ${cloud.adminKeySealed} ${cloud.trusted}`;
    const known = this.#links.get(cloud.id);
    if (known?.sealed === sealed) return known.link;
    const key = this.#vault.unseal(cloud.adminKeySealed);
    const login = { address: cloud.address, user: cloud.adminUser, key, trusted: cloud.trusted };
    const link = linkTo(login, this.#claims.fetchFor(cloud.id, this.#connections.fetchTo(cloud.trusted, 'cloud')));
    this.#links.set(cloud.id, { sealed, link });
    return link;
  }

  /** Claims a cloud before it is on record: one of another portal is refused with what to do, or moved by force. */
  async claimNew(login: CloudLogin, force: boolean): Promise<string> {
    try {
      return await this.#claims.request(linkTo(login, this.#connections.fetchTo(login.trusted, 'cloud')), force);
    } catch (error) {
      if (!(error instanceof ClaimRefused)) throw explained(error, login.address);
      throw new ClaimRefused(
        `${error.message} One that is not on record here is moved by \`granary clouds create --adopt\`, or \`join-code --adopt\`.`,
      );
    }
  }
}

function linkTo({ address, user, key, trusted }: CloudLogin, fetchWith: typeof fetch): CloudClient {
  return cloudClient({ url: urlOf(placeOf(address), trusted), user, key, timeoutMs: WORK_MS_MAX, fetch: fetchWith });
}

function placeOf(address: string): HostAndPort {
  const place = parseHostAndPort(address, CLOUD_PORT_DEFAULT);
  if (!place) throw badParameter('ip', 'must be an address, or address:port');
  return place;
}

function urlOf({ host, port }: HostAndPort, trusted: string | null): string {
  return `${trusted === null ? 'http' : 'https'}://${host.includes(':') ? `[${host}]` : host}:${port}`;
}
