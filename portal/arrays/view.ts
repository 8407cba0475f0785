import type { RecordOf } from '@granary/contract';
import type { Inventory } from '@granary/contract/cloud';
import type { ListedArray, OrderedArray, PublicObjectService, ShownArray } from '@granary/contract/portal';
import { formatSeconds, formatUtc } from '@granary/kernel';
import type { InterfaceRow } from '../networks/index.ts';
import type { ArrayRow } from './repository.ts';
import { driveCount } from './rules.ts';

export type ListedView = RecordOf<typeof ListedArray>;
export type ShownView = RecordOf<typeof ShownArray>;
export type OrderedView = RecordOf<typeof OrderedArray>;
export type PublicServiceView = RecordOf<typeof PublicObjectService>;

/** All that an array's record is made from. */
export interface ArrayFacts {
  readonly row: ArrayRow;
  readonly initialPasscode: string;
  readonly provider: { readonly name: string; readonly key: string };
  readonly inventory: Inventory;
  readonly interfaces: readonly InterfaceRow[];
  readonly publicService: PublicServiceView | undefined;
}

const PRODUCT_NAMES = { storage_array: 'Storage Array', object_storage: 'Object Storage' } as const;

export function listedView(facts: ArrayFacts): ListedView {
  return {
    ...common(facts),
    cache: cacheView(facts),
    app_engine: appEngineView(facts),
    drives: Object.keys(facts.row.spec.drives),
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
    drives: facts.row.spec.drives,
  };
}

/** The reply to an order. */
export function orderedView(facts: ArrayFacts): OrderedView {
  const { included_gb, included_partitions, total_gb, total_partitions } = cacheView(facts);
  return {
    ...common(facts),
    id: null,
    management_url: null,
    ip_address: null,
    cache: { total_partitions, total_gb, gb_from_engine: included_gb, partitions_from_engine: included_partitions },
    app_engine: appEngineView(facts),
    drives: facts.row.spec.drives,
    version: facts.inventory.version,
  };
}

function common({ row, initialPasscode, provider, inventory, interfaces, publicService }: ArrayFacts) {
  const { spec } = row;
  const isDeleted = row.status === 'deleted';
  const engine = inventory.engine_types.find(({ key }) => key === spec.engine);
  return {
    id: row.status === 'creating' ? null : row.id,
    name: row.name,
    description: row.description,
    status: row.status,
    status_message: row.status_message,
    progress: row.progress,
    undelete_until: isDeleted && row.purge_at !== null ? formatUtc(row.purge_at) : null,
    product: row.product,
    type: PRODUCT_NAMES[row.product],
    allocation_zones: row.zones.length > 0 ? [...row.zones] : spec.zone === null ? [] : [spec.zone],
    engine: engine ? { name: engine.name, key: engine.key, specs: engine.specs } : null,
    drive_count: driveCount(spec.drives),
    fibre_channel: spec.fibre_channel,
    nova_id: row.nova_id,
    management_url: isDeleted ? null : row.management_url,
    ip_address: isDeleted ? null : row.ip_address,
    ipv6_address: isDeleted ? null : row.ipv6_address,
    initial_passcode: initialPasscode,
    internal_name: row.internal_name,
    time_created_gmt: formatSeconds(row.created_at),
    locked_down: false,
    provider: { name: provider.name, key: provider.key },
    virtual_network_interfaces: interfaces.filter(({ attached }) => attached && !isDeleted).map(interfaceView),
    flc_enabled: spec.file_lifecycle,
    iscsi_dual_target_mode_enabled: spec.iscsi_dual_target,
    ...(row.product === 'object_storage' && objectStorageFields(row, inventory, publicService)),
  };
}

function objectStorageFields(
  { spec, storage_controllers: storageControllers }: ArrayRow,
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

function interfaceView(row: InterfaceRow): ListedView['virtual_network_interfaces'][number] {
  return {
    id: row.id,
    name: row.name,
    virtual_network_id: row.virtual_network_id,
    vlan_id: row.vlan_id,
    ip_address: row.address,
    netmask: row.netmask,
    gateway: row.gateway,
    bound: row.bound,
    problem: row.problem,
  };
}

function cacheView({ row, inventory }: ArrayFacts): ListedView['cache'] {
  const { partition_gb: partitionGb } = inventory.flash_cache;
  const included = inventory.engine_types.find(({ key }) => key === row.spec.engine)?.base_cache_gb ?? 0;
  const extra = row.spec.extra_cache_gb;
  const partitions = (gb: number) => Math.ceil(gb / partitionGb);
  return {
    extra_gb: extra,
    extra_partitions: partitions(extra),
    included_gb: included,
    included_partitions: partitions(included),
    total_gb: included + extra,
    total_partitions: partitions(included) + partitions(extra),
  };
}

function appEngineOf({ row, inventory }: ArrayFacts) {
  return inventory.app_engines.find(({ key }) => key === row.spec.app_engine);
}

function appEngineView(facts: ArrayFacts): ListedView['app_engine'] {
  const engine = appEngineOf(facts);
  return engine ? { name: engine.name, key: engine.key, specs: engine.specs } : null;
}
