import { randomUUID } from 'node:crypto';
import type { InputOf } from '@granary/contract';
import type { Inventory } from '@granary/contract/cloud';
import { denialMessage, type portalApi } from '@granary/contract/portal';
import { badParameter, badParameters, fail, newSecret, type Tx } from '@granary/kernel';
import type { RequestId } from '../ids.ts';
import { isAdmin, mayActAtOnce, type PortalActor } from '../actor.ts';
import type { CloudService } from '../clouds/service.ts';
import { networkForOrder, type InterfaceService } from '../networks/index.ts';
import { findNetworkOfTenant } from '../networks/repository.ts';
import type { Provider } from '../providers/provider.ts';
import { findProviderByKey } from '../providers/repository.ts';
import { renameRequest } from '../requests/repository.ts';
import type { PortalRequest } from '../requests/request.ts';
import type { RequestService } from '../requests/service.ts';
import type { Tools } from '../tools.ts';
import { checkComputeLimits } from './compute-limits.ts';
import type { ArrayLifecycle } from './lifecycle.ts';
import { featureProblems } from './features.ts';
import type { ArrayRecords } from './records.ts';
import * as repository from './repository.ts';
import type { KeptSpec } from './array.ts';
import { checkStock, driveCount, drivesNeeded, isFlash, problemsOf } from './rules.ts';
import type { ArrayStates } from './states.ts';
import type { OrderedView } from './view.ts';

export type Order = InputOf<(typeof portalApi)['groups']['arrays']['create']>;

interface Parts {
  readonly tools: Tools;
  readonly clouds: CloudService;
  readonly requests: RequestService;
  readonly interfaces: InterfaceService;
  readonly records: ArrayRecords;
  readonly states: ArrayStates;
  readonly lifecycle: ArrayLifecycle;
}

const PASSCODE_BYTES = 9;

/** From an order to an array that is being created, or waits for an administrator's word. */
export class ArrayOrders {
  readonly #parts: Parts;

  constructor(parts: Parts) {
    this.#parts = parts;
    parts.requests.register(['create_array'], {
      check: (request) => this.#checkAgain(request),
      execute: (tx, request) => this.#begin(tx, request),
      denied: (tx, request, reason, by) => {
        this.#refuse(tx, request, reason, by);
      },
      withdrawn: (tx, request, by) => {
        this.#withdraw(tx, request, by);
      },
      renames: (tx, request, name) => {
        this.#rename(tx, request, name);
      },
    });
  }

  async place(actor: PortalActor, order: Order): Promise<OrderedView> {
    const { tools, clouds, requests, records } = this.#parts;
    const provider = this.#provider(actor, order.provider);
    const inventory = await clouds.freshInventory(provider.cloudId);
    clouds.refuseClosedDriveTypes(provider.cloudId, order.drives);
    const spec = specOf(order, inventory);
    const problems = [...featureProblems(order, inventory), ...problemsOf(order.kind, spec, inventory)];
    if (problems.length > 0) throw badParameters(problems);
    checkStock(order.kind, spec.zone, spec.drives, inventory);
    const networkId = this.#network(actor, provider, order);
    const filing = {
      kind: 'create_array',
      name: order.name,
      arrayId: null,
      arguments: {
        provider: provider.key,
        product: order.kind,
        drives: spec.drives,
        engine: spec.engine,
        ...choicesOf(order, spec, inventory),
        ...(networkId !== undefined && { network_id: networkId }),
      },
      moderate: order.moderate,
    } as const;
    let arrayId = 0;
    await requests.file(
      actor,
      filing,
      (tx, requestId) => (arrayId = this.#insert(tx, actor, order, provider, spec, requestId)),
    );
    return tools.store.read((db) => records.ordered(db, arrayId));
  }

  #insert(tx: Tx, actor: PortalActor, order: Order, provider: Provider, spec: KeptSpec, requestId: RequestId): number {
    const { tools, clouds, records } = this.#parts;
    if (repository.findArrayByName(tx, actor.userId, order.name)) throw fail('name_taken', { name: order.name });
    const wanted = { ownerId: actor.userId, providerId: provider.id, appEngine: spec.app_engine };
    checkComputeLimits(tx, wanted, clouds.existing(tx, provider.cloudId).inventory);
    const waits = order.moderate || !mayActAtOnce(actor);
    const id = repository.insertArray(tx, {
      uuid: randomUUID(),
      name: order.name,
      description: order.description ?? null,
      statusMessage: waits ? `Waiting for an administrator to approve request ${requestId}` : 'Accepted',
      product: order.kind,
      ownerId: actor.userId,
      providerId: provider.id,
      cloudId: provider.cloudId,
      spec,
      initialPasscodeSealed: tools.vault.seal(newSecret(PASSCODE_BYTES)),
      internalKeySealed: tools.vault.seal(newSecret()),
      createdAt: tools.clock.now(),
    });
    tools.events.record(tx, {
      title: `Array ${order.name} was ordered.`,
      subject: `array:${id}`,
      actor: actor.username,
    });
    tx.afterCommit(() => {
      records.changed(id);
    });
    return id;
  }

  /** Just before it is carried out: the stock may be gone since it was ordered. */
  async #checkAgain(request: PortalRequest): Promise<void> {
    const { tools, clouds, states } = this.#parts;
    if (request.arrayId === null) return;
    const { product, spec, cloudId } = tools.store.read((db) => states.existing(db, request.arrayId as number));
    checkStock(product, spec.zone, spec.drives, await clouds.freshInventory(cloudId));
  }

  #begin(tx: Tx, request: PortalRequest): number {
    const { interfaces, lifecycle, states } = this.#parts;
    const {
      id,
      ownerId: userId,
      providerId,
    } = states.require(tx, request.arrayId as number, null, 'creating it', ['creating']);
    const networkId = request.arguments['network_id'];
    // It may have been removed while the order waited; the array is wanted all the same.
    if (typeof networkId === 'number' && findNetworkOfTenant(tx, { userId, providerId }, networkId))
      interfaces.reserveAddress(tx, id, networkId);
    repository.setStatusMessage(tx, id, 'Accepted');
    states.touch(tx, id);
    return lifecycle.start(tx, 'array.create', id);
  }

  #refuse(tx: Tx, request: PortalRequest, reason: string, by: string): void {
    const { states } = this.#parts;
    const { id, name, status } = states.existing(tx, request.arrayId as number);
    if (status !== 'creating') return;
    const message = denialMessage(request.id, reason);
    states.move(tx, id, {
      status: 'failed',
      message,
      progress: 0,
      event: `The order of array ${name} was denied.`,
      severity: 'notice',
      actor: by,
    });
  }

  /** What was never placed leaves nothing behind. */
  #withdraw(tx: Tx, request: PortalRequest, by: string): void {
    const { tools, states } = this.#parts;
    const { id, name, status } = states.existing(tx, request.arrayId as number);
    if (status !== 'creating') return;
    const event = `The order of array ${name} was withdrawn.`;
    states.move(tx, id, { status: 'deleted', progress: 100, event, actor: by });
    repository.setPurged(tx, id, tools.clock.now());
  }

  #rename(tx: Tx, request: PortalRequest, name: string): void {
    const { states } = this.#parts;
    const array = states.existing(tx, request.arrayId as number);
    if (repository.findArrayByName(tx, array.ownerId, name)) throw fail('name_taken', { name });
    repository.renameArray(tx, array.id, name);
    renameRequest(tx, request.id, name);
    states.touch(tx, array.id);
  }

  #provider(actor: PortalActor, key: string): Provider {
    const provider = this.#parts.tools.store.read((db) => findProviderByKey(db, key, isAdmin(actor)));
    if (!provider)
      throw badParameter('provider', `${key} is not a provider you can order from; see GET /api/providers`);
    if (!provider.enabled) throw badParameter('provider', `${key} is closed`);
    return provider;
  }

  #network(actor: PortalActor, provider: Provider, order: Order): number | undefined {
    return this.#parts.tools.store.read((db) =>
      networkForOrder(db, {
        ownerId: actor.userId,
        providerId: provider.id,
        customNetworkId: order.custom_network_id,
        vlanId: order.vlan_id,
      }),
    );
  }
}

function specOf(order: Order, inventory: Inventory): KeptSpec {
  const isBlock = order.kind === 'storage_array';
  const spec: KeptSpec = {
    zone: order.allocation_zone ?? null,
    engine: isBlock ? (order.engine ?? null) : null,
    app_engine: isBlock ? (order.app_engine ?? defaultAppEngine(inventory)) : null,
    extra_cache_gb: order.flash_cache_capacity ?? 0,
    drives: order.drives,
    policies: isBlock ? [] : [firstPolicy(order, inventory)],
    proxy_zones: [],
    public_ip: false,
    fibre_channel: order.fibre_channel !== undefined,
    file_lifecycle: order.flc_enabled !== undefined,
    iscsi_dual_target: order.iscsi_dual_target_mode_enabled !== undefined,
    data_reduction: false,
    raid_10_pools: order.create_raid_10_pools,
  };
  return { ...spec, data_reduction: isBlock && order.data_reduction_bundle && isFlash(spec, inventory) };
}

/** What else the administrator decides on: what costs more, and what is not as it would be by itself. */
function choicesOf({ description }: Order, spec: KeptSpec, inventory: Inventory): Readonly<Record<string, unknown>> {
  const [policy] = spec.policies;
  const policyType = inventory.policy_types.find(({ id }) => id === policy?.type_id)?.name;
  return {
    ...(spec.app_engine !== null && { app_engine: spec.app_engine }),
    ...(spec.extra_cache_gb > 0 && { flash_cache_capacity: spec.extra_cache_gb }),
    ...(spec.zone !== null && { allocation_zone: spec.zone }),
    ...(policyType !== undefined && { storage_policy_type: policyType }),
    ...(spec.raid_10_pools && { create_raid_10_pools: true }),
    ...(spec.file_lifecycle && { file_lifecycle: true }),
    ...(spec.iscsi_dual_target && { iscsi_dual_target: true }),
    ...(description !== undefined && { description }),
  };
}

function defaultAppEngine({ app_engines }: Inventory): string | null {
  return app_engines.find((engine) => engine.default)?.key ?? null;
}

/** Without a type named, the safest one the drives allow: the cloud lists them in that order. */
function firstPolicy(order: Order, inventory: Inventory): KeptSpec['policies'][number] {
  const asked = order.array_zone_group_storage_policy_type_id;
  const count = driveCount(order.drives);
  const fitting = inventory.policy_types.filter((type) => drivesNeeded(type) <= count);
  const type = inventory.policy_types.find(({ id }) => id === asked) ?? (asked === undefined ? fitting[0] : undefined);
  if (asked !== undefined && !type) {
    const ids = inventory.policy_types.map(({ id }) => id).join(', ');
    throw badParameter('array_zone_group_storage_policy_type_id', `must be one of ${ids}`);
  }
  if (!type) throw badParameter('drives', 'are too few for any storage policy type of this cloud');
  return { name: order.storage_profile ?? type.name, type_id: type.id, drives: order.drives };
}
