import type { RecordOf } from '@granary/contract';
import type { Inventory } from '@granary/contract/cloud';
import type { ListedArray, OrderedArray, ShownArray } from '@granary/contract/portal';
import { formatSeconds, formatUtc, gigabytes, MB } from '@granary/kernel';
import type { PublicServiceView } from './public-services/view.ts';
import { gatewayFor, type ArrayInterface } from '../networks/index.ts';
import type { PortalArray } from './array.ts';
import { isInSecondZone } from './place.ts';
import { driveCount } from './rules.ts';

export type ListedView = RecordOf<typeof ListedArray>;
export type ShownView = RecordOf<typeof ShownArray>;
export type OrderedView = RecordOf<typeof OrderedArray>;

/** All that an array's record is made from. */
export interface ArrayFacts {
  readonly array: PortalArray;
  readonly initialPasscode: string;
  readonly provider: { readonly name: string; readonly key: string };
  readonly inventory: Inventory;
  readonly interfaces: readonly ArrayInterface[];
  readonly publicService: PublicServiceView | undefined;
}

const PRODUCT_NAMES = { storage_array: 'Storage Array', object_storage: 'Object Storage' } as const;

export function listedView(facts: ArrayFacts): ListedView {
  return {
    ...common(facts),
    cache: cacheView(facts),
    app_engine: appEngineView(facts),
    drives: Object.keys(facts.array.spec.drives),
  };
}

export function shownView(facts: ArrayFacts): ShownView {
  const appEngine = appEngineOf(facts);
  return {
    ...common(facts),
    cache: cacheView(facts),
    app_engine: appEngine
      ? { name: appEngine.name, key: appEngine.key, specs: appEngine.specs, type: appEngine.type }
      : null,
    drives: facts.array.spec.drives,
  };
}

/** The reply to an order. */
export function orderedView(facts: ArrayFacts): OrderedView {
  const { included_gb, included_partitions, total_gb, total_partitions } = cacheView(facts);
  return {
    ...common(facts),
    management_url: null,
    ip_address: null,
    cache: { total_partitions, total_gb, gb_from_engine: included_gb, partitions_from_engine: included_partitions },
    app_engine: appEngineView(facts),
    drives: facts.array.spec.drives,
    version: facts.inventory.version,
  };
}

function common({ array, initialPasscode, provider, inventory, interfaces, publicService }: ArrayFacts) {
  const { spec } = array;
  const isDeleted = array.status === 'deleted';
  const engine = inventory.engine_types.find(({ key }) => key === spec.engine);
  return {
    id: array.id,
    name: array.name,
    description: array.description,
    status: array.status,
    status_message: array.statusMessage,
    progress: array.progress,
    undelete_until: isDeleted && array.purgeAt !== null ? formatUtc(array.purgeAt) : null,
    product: array.product,
    type: PRODUCT_NAMES[array.product],
    allocation_zones: array.zones.length > 0 ? [...array.zones] : spec.zone === null ? [] : [spec.zone],
    engine: engine ? { name: engine.name, key: engine.key, specs: engine.specs } : null,
    drive_count: driveCount(spec.drives),
    fibre_channel: spec.fibre_channel,
    nova_id: array.numberInCloud,
    management_url: isDeleted ? null : array.managementUrl,
    ip_address: isDeleted ? null : array.ipAddress,
    ipv6_address: isDeleted ? null : array.ipv6Address,
    initial_passcode: initialPasscode,
    internal_name: array.internalName,
    time_created_gmt: formatSeconds(array.createdAt),
    locked_down: array.isLockedDown,
    provider: { name: provider.name, key: provider.key },
    virtual_network_interfaces: interfaces
      .filter(({ attached }) => attached && !isDeleted)
      .map((one) => interfaceView(one, isInSecondZone(array, inventory))),
    flc_enabled: spec.file_lifecycle,
    iscsi_dual_target_mode_enabled: spec.iscsi_dual_target,
    ...(array.product === 'object_storage' && objectStorageFields(array, inventory, publicService)),
  };
}

function objectStorageFields(
  { spec, storageControllers }: PortalArray,
  inventory: Inventory,
  publicService: PublicServiceView | undefined,
) {
  return {
    proxy_virtual_controllers: spec.proxy_zones.length,
    proxy_storage_virtual_controllers: storageControllers,
    storage_policies: spec.policies.map((policy) => {
      const type = inventory.policy_types.find(({ id }) => id === policy.type_id);
      return {
        display_name: policy.name,
        policy_name: policy.name,
        replicas: type?.replicas ?? 0,
        sp_type_id: policy.type_id,
        storage_policy_type: type?.name ?? '',
        data_fragments: type?.data_fragments ?? 0,
        parity_fragments: type?.parity_fragments ?? 0,
      };
    }),
    public_objs: publicService ?? null,
  };
}

function interfaceView(one: ArrayInterface, isSecondZone: boolean): ListedView['virtual_network_interfaces'][number] {
  const isIpv6Only = one.address.includes(':');
  const gateway = gatewayFor(one, isSecondZone);
  return {
    id: one.id,
    name: one.name,
    virtual_network_id: one.networkId,
    vlan_id: one.vlanId,
    ip_address: one.address,
    netmask: one.netmask,
    gateway,
    ipv6_address: isIpv6Only ? one.address : one.ipv6Address,
    ipv6_netmask: isIpv6Only ? one.netmask : (one.ipv6?.netmask ?? null),
    ipv6_gateway: isIpv6Only ? gateway : one.ipv6 && gatewayFor(one.ipv6, isSecondZone),
    bound: one.bound,
    problem: one.problem,
  };
}

function cacheView({ array, inventory }: ArrayFacts): ListedView['cache'] {
  const { partition_gb: partitionGb } = inventory.flash_cache;
  const included = inventory.engine_types.find(({ key }) => key === array.spec.engine)?.base_cache_gb ?? 0;
  const extra = array.spec.extra_cache_gb;
  const partitions = (gb: number) => Math.ceil(gb / partitionGb);
  return {
    extra_gb: extra,
    extra_partitions: partitions(extra),
    included_gb: included,
    included_partitions: partitions(included),
    total_gb: included + extra,
    total_partitions: partitions(included) + partitions(extra),
    in_effect_gb: array.cacheMb === null ? null : gigabytes(array.cacheMb * MB),
  };
}

function appEngineOf({ array, inventory }: ArrayFacts) {
  return inventory.app_engines.find(({ key }) => key === array.spec.app_engine);
}

function appEngineView(facts: ArrayFacts): ListedView['app_engine'] {
  const engine = appEngineOf(facts);
  return engine ? { name: engine.name, key: engine.key, specs: engine.specs } : null;
}
