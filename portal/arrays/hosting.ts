import { setTimeout as sleep } from 'node:timers/promises';
import { ApiError, ConnectionError, type CloudClient } from '@granary/client';
import type { ArraySpec, HostedArray } from '@granary/contract/cloud';
import { GranaryError, type Db } from '@granary/kernel';
import { ClaimRefused } from '../clouds/claims.ts';
import { interfacesOfArray, type ArrayInterface } from '../networks/index.ts';
import { findSeller } from '../providers/repository.ts';
import type { Tools } from '../tools.ts';
import type { KeptSpec, PortalArray } from './array.ts';
import { findArray } from './repository.ts';
import { servedPlace } from './public-services/place.ts';
import type { ServicePlace } from './public-services/public-service.ts';

export const POLL_MS = 100;
/** How long one run of a job looks at its cloud before it lets others have its place. */
const RUN_MS_MAX = 20_000;
/** What a cloud says no with; anything else it answers with passes. */
const REFUSALS: readonly number[] = [400, 409, 422];

/** The work is not done, but this run of it has looked long enough. */
export class NotYet extends Error {}

interface Telling {
  readonly desired?: 'running' | 'stopped';
  /** Interfaces that are about to go. */
  readonly without?: readonly number[];
  /** Where its public service is to be from now on; null: nowhere. Absent: where it is. */
  readonly service?: ServicePlace | null;
}

/** One array as its cloud has it: reads its state, sends its desired state, waits for it. */
export class Hosting {
  readonly #link: CloudClient;
  readonly #array: PortalArray;
  readonly #tools: Tools;

  constructor(link: CloudClient, array: PortalArray, tools: Tools) {
    this.#link = link;
    this.#array = array;
    this.#tools = tools;
  }

  /** Undefined when the cloud does not have it. */
  async get(): Promise<HostedArray | undefined> {
    try {
      return (await this.#link.hostedArrays.get({ uuid: this.#array.uuid })).data;
    } catch (error) {
      if (error instanceof ApiError && error.status === 404) return undefined;
      throw error;
    }
  }

  /** Tells the cloud what the array should be, whole; text when the cloud refuses. */
  async put(kept: KeptSpec, { desired, without = [], service }: Telling): Promise<HostedArray | string> {
    const { uuid } = this.#array;
    const spec = this.#tools.store.read((db) => this.#specOf(db, kept, without, service));
    try {
      return (await this.#link.hostedArrays.put({ uuid, spec, ...(desired && { desired }) })).data;
    } catch (error) {
      // A refusal is final; anything else about the cloud is tried again.
      if (error instanceof ApiError && REFUSALS.includes(error.status)) return error.message;
      throw error instanceof ApiError ? new ConnectionError('the cloud', error) : error;
    }
  }

  /** Undefined when the cloud no longer has it. */
  async until(signal: AbortSignal, reached: (hosted: HostedArray) => boolean): Promise<HostedArray | undefined> {
    const end = performance.now() + RUN_MS_MAX;
    for (;;) {
      const hosted = await this.get();
      if (!hosted || reached(hosted)) return hosted;
      await pauseUntil(end, signal);
    }
  }

  /** Asked again and again: the cloud answers with the array until it is gone. */
  async remove(signal: AbortSignal): Promise<void> {
    const end = performance.now() + RUN_MS_MAX;
    while ((await this.#link.hostedArrays.delete({ uuid: this.#array.uuid })).data) await pauseUntil(end, signal);
  }

  #specOf(db: Db, kept: KeptSpec, without: readonly number[], service: ServicePlace | null | undefined): ArraySpec {
    const array = this.#array;
    const { vault } = this.#tools;
    const place = service === undefined ? servedPlace(db, array.id) : service;
    const provider = findSeller(db, array.providerId);
    const interfaces = interfacesOfArray(db, array.id).filter(({ id }) => !without.includes(id));
    return {
      ...kept,
      drives_returned: kept.drives_returned ?? {},
      policy_drives_returned: kept.policy_drives_returned ?? {},
      proxies_returned: kept.proxies_returned ?? 0,
      product: array.product,
      name: array.name,
      owner: array.owner,
      owner_uuid: array.ownerUuid,
      owner_id: array.ownerId,
      ...(provider && { provider: provider.name }),
      initial_passcode: vault.unseal(array.initialPasscodeSealed),
      internal_key: vault.unseal(array.internalKeySealed),
      ...(place && { public_service: place }),
      locked_down: findArray(db, array.id, null)?.isLockedDown ?? array.isLockedDown,
      interfaces: interfaces.map(wantedInterface),
    };
  }
}

/** The cloud knows the zone, and so the way out. */
function wantedInterface(one: ArrayInterface): ArraySpec['interfaces'][number] {
  const { id, address, ipv6Address, netmask, gateway, gatewayZone1, ipv6, vlanId, forced } = one;
  return {
    id,
    address,
    netmask,
    gateway,
    vlan_id: vlanId,
    ...(gatewayZone1 !== null && { gateway_zone_1: gatewayZone1 }),
    ...(ipv6 !== null &&
      ipv6Address !== null && {
        ipv6: {
          address: ipv6Address,
          netmask: ipv6.netmask,
          gateway: ipv6.gateway,
          ...(ipv6.gatewayZone1 !== null && { gateway_zone_1: ipv6.gatewayZone1 }),
        },
      }),
    ...(forced && { forced }),
  };
}

/** Silence, an error of its own, or a no to our key: all of them pass, and none is the array's fault. */
export function isTroubleOfCloud(error: unknown): error is Error {
  if (error instanceof ConnectionError || error instanceof ApiError) return true;
  if (error instanceof ClaimRefused) return true;
  return error instanceof GranaryError && ['cloud_unreachable', 'cloud_refused'].includes(error.entry);
}

/**
 * A specification with at least the drives the cloud says the array has: an answer that was lost on the way may have
 * left more there than the record knows, and drives are never taken from a living array.
 */
export function withDrivesOf(hosted: HostedArray | undefined, spec: KeptSpec): KeptSpec {
  const held = hosted?.drives ?? [];
  const policies = spec.policies.map((policy) => {
    const ofPolicy = held.filter((drive) => drive.policy === policy.name);
    return { ...policy, drives: atLeast(policy.drives, ofPolicy) };
  });
  return { ...spec, drives: atLeast(spec.drives, held), policies };
}

function atLeast(
  wanted: Readonly<Record<string, number>>,
  held: readonly { readonly type: string }[],
): Record<string, number> {
  const drives: Record<string, number> = { ...wanted };
  for (const [type, { length }] of Map.groupBy(held, ({ type }) => type))
    drives[type] = Math.max(drives[type] ?? 0, length);
  return drives;
}

async function pauseUntil(end: number, signal: AbortSignal): Promise<void> {
  if (performance.now() > end) throw new NotYet('it takes its time');
  await sleep(POLL_MS, undefined, { signal });
}
