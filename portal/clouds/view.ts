import type { RecordOf } from '@granary/contract';
import type { Inventory } from '@granary/contract/cloud';
import type { Cloud as CloudRecord, DriveType } from '@granary/contract/portal';
import { wholeGigabytes } from '@granary/kernel';
import type { Cloud, DriveTypeOffer } from './cloud.ts';

export type CloudView = RecordOf<typeof CloudRecord>;
export type DriveTypeView = RecordOf<typeof DriveType>;

/** The drive types as the operator offers them: the cloud's own facts, changed where the operator said so. */
export function driveTypesOf(inventory: Inventory, offers: readonly DriveTypeOffer[]): DriveTypeView[] {
  return inventory.drive_types.map((type) => {
    const offer = offers.find(({ driveTypeId }) => driveTypeId === type.id);
    return {
      id: type.id,
      name: offer?.name ?? type.name,
      capacity_gb: type.capacity_gb,
      display_capacity_gb: offer?.displayCapacity ? wholeGigabytes(offer.displayCapacity) : type.capacity_gb,
      hourly_price_usd: type.hourly_price_usd,
      key: type.key,
      enabled: offer?.enabled ?? true,
      cache: type.cache,
      order: type.order,
    };
  });
}

export function cloudView(cloud: Cloud, offers: readonly DriveTypeOffer[]): CloudView {
  const { inventory } = cloud;
  return {
    id: String(cloud.id),
    name: cloud.name,
    uuid: cloud.uuid,
    enabled: String(cloud.enabled),
    app_engines: inventory.app_engines.map(appEngineView),
    // A cloud of Granary has no such services; the fields stay for clients that read them.
    nova_url: null,
    auth_url: null,
    keystone_url: null,
    glance_url: null,
    drive_types: driveTypesOf(inventory, offers)
      .filter(({ enabled }) => enabled)
      .map(offeredView),
    engine_types: inventory.engine_types.map(engineView),
    fibre_channel: { enabled: inventory.fibre_channel },
    flash_cache: { enabled: inventory.flash_cache.enabled, increment_gb: inventory.flash_cache.increment_gb },
    minimum_drives: inventory.minimum_drives,
    supports_app_engines: inventory.app_engines.length > 0,
    objs: { enabled: inventory.object_storage },
    zones: inventory.zones.map((zone) => ({
      allocation_zone_disp_name: zone.display_name,
      allocation_zone_name: zone.name,
    })),
    array_zone_group_storage_policy_types: {
      array_zone_group_storage_policy_type: JSON.stringify(inventory.policy_types),
    },
  };
}

function appEngineView(engine: Inventory['app_engines'][number]): CloudView['app_engines'][number] {
  return {
    default: String(engine.default),
    memory_mb: String(engine.memory_mb),
    // Orders name an app engine by its key, and this record has no other place for it.
    name: engine.key,
    price: engine.hourly_price_usd,
    specs: engine.specs,
    vcpus: String(engine.vcpus),
  };
}

function offeredView(type: DriveTypeView): CloudView['drive_types'][number] {
  return {
    hourly_price_usd: type.hourly_price_usd ?? '0',
    capacity_gb: type.display_capacity_gb,
    name: type.name,
    key: type.key,
    id: String(type.id),
  };
}

function engineView(engine: Inventory['engine_types'][number]): CloudView['engine_types'][number] {
  return {
    id: String(engine.id),
    hourly_price_usd: engine.hourly_price_usd,
    name: engine.name,
    max_drives: engine.max_drives,
    max_cache_gb: engine.max_cache_gb,
    key: engine.key,
    encryption_hourly_price_usd: engine.encryption_hourly_price_usd,
    specs: engine.specs,
    cache: {
      base_cache_gb: engine.base_cache_gb,
      max_flash_cache_gb: engine.max_flash_cache_gb,
      recommended_flash_cache_gb: engine.recommended_flash_cache_gb,
    },
  };
}
