import { platform } from 'node:os';
import type { Config, NodeConfig } from './schema.ts';

const STOCK_PER_TYPE = 40;
const NODES_PER_ZONE = 2;

/** What a first start writes: small enough for one machine, complete enough to order anything. */
export function defaultConfig(system: NodeJS.Platform = platform()): Config {
  const zones = [0, 1, 2].map((n) => ({ id: n + 1, name: `zone_${n}`, display_name: `Zone ${n}` }));
  return {
    $schema: './granary.config.schema.json',
    zones,
    nodes: zones.flatMap(({ name }, zone) => defaultNodes(name, zone)),
    ...defaultTypes,
    flash_cache: { enabled: true, increment_gb: 200, partition_gb: 20, gb_hourly_price_usd: '0.0002' },
    object_storage: {
      proxy_hourly_price_usd: '0.02',
      public_objs_hourly_price_usd: '0.01',
      encryption_hourly_price_usd: '0.01',
    },
    minimum_drives: 2,
    features: { fibre_channel: false, file_lifecycle: true, iscsi_dual_target: true, object_storage: true },
    network: { ...defaultAddresses(system), vlans: { first: 100, last: 1099 } },
    arrays_max: 1000,
  };
}

function defaultNodes(zone: string, zoneIndex: number): NodeConfig[] {
  return Array.from({ length: NODES_PER_ZONE }, (_, n) => ({
    name: `node-${zoneIndex * NODES_PER_ZONE + n + 1}`,
    zone,
    drives: Object.fromEntries(defaultTypes.drive_types.map(({ key }) => [key, STOCK_PER_TYPE])),
  }));
}

/** Linux answers on all of 127.0.0.0/8, so each array has an address of its own there; elsewhere they share one. */
function defaultAddresses(system: NodeJS.Platform) {
  const ownAddresses = system === 'linux';
  return {
    arrays: ownAddresses ? '127.64.0.0/16' : '127.0.0.1/32',
    management_port: 7480,
    shared_ports: { first: 17_480, last: 18_479 },
    ...(ownAddresses && { public: '127.65.0.0/16' }),
    public_ip_hourly_price_usd: '0.005',
  };
}

const defaultTypes = {
  drive_types: [
    {
      id: 1,
      key: 'SSD_10GB',
      name: '10 GiB SSD',
      medium: 'ssd',
      capacity_gb: 10,
      cache: false,
      hourly_price_usd: '0.002',
    },
    {
      id: 2,
      key: 'SSD_100GB',
      name: '100 GiB SSD',
      medium: 'ssd',
      capacity_gb: 100,
      cache: false,
      hourly_price_usd: '0.015',
    },
    {
      id: 3,
      key: 'HDD_1000GB',
      name: '1000 GiB HDD',
      medium: 'hdd',
      capacity_gb: 1000,
      cache: false,
      hourly_price_usd: '0.03',
    },
  ],
  engine_types: [
    engine(1, 'small', { vcpus: 1, memoryGb: 2, drives: 8, baseCacheGb: 20, flashCacheGb: 200, price: '0.05' }),
    engine(2, 'medium', { vcpus: 2, memoryGb: 4, drives: 16, baseCacheGb: 40, flashCacheGb: 400, price: '0.1' }),
    engine(3, 'large', { vcpus: 4, memoryGb: 8, drives: 32, baseCacheGb: 80, flashCacheGb: 800, price: '0.2' }),
    engine(4, 'xlarge', { vcpus: 8, memoryGb: 16, drives: 64, baseCacheGb: 160, flashCacheGb: 1600, price: '0.4' }),
  ],
  app_engines: [
    appEngine('app_small', 'Small', { vcpus: 1, memoryMb: 1024, price: '0.01', default: true }),
    appEngine('app_medium', 'Medium', { vcpus: 2, memoryMb: 2048, price: '0.02', default: false }),
  ],
  policy_types: [
    { id: 1, name: '2-way replication', replicas: 2, data_fragments: 0, parity_fragments: 0 },
    { id: 2, name: '3-way replication', replicas: 3, data_fragments: 0, parity_fragments: 0 },
    { id: 3, name: 'Erasure coding 4+2', replicas: 1, data_fragments: 4, parity_fragments: 2 },
  ],
} satisfies Partial<Config>;

interface EngineSize {
  readonly vcpus: number;
  readonly memoryGb: number;
  readonly drives: number;
  readonly baseCacheGb: number;
  readonly flashCacheGb: number;
  readonly price: string;
}

function engine(id: number, size: string, engineSize: EngineSize) {
  const { vcpus, memoryGb, drives, baseCacheGb, flashCacheGb, price } = engineSize;
  return {
    id,
    nova_id: 100 + id,
    key: `engine_${size}`,
    name: `${size[0]?.toUpperCase()}${size.slice(1)}`,
    specs: `${vcpus} vCPU, ${memoryGb} GiB memory`,
    vcpus,
    memory_mb: memoryGb * 1024,
    max_drives: drives,
    base_cache_gb: baseCacheGb,
    max_cache_gb: baseCacheGb + flashCacheGb,
    max_flash_cache_gb: flashCacheGb,
    recommended_flash_cache_gb: 200,
    hourly_price_usd: price,
    encryption_hourly_price_usd: '0.01',
  };
}

interface AppEngineSize {
  readonly vcpus: number;
  readonly memoryMb: number;
  readonly price: string;
  readonly default: boolean;
}

function appEngine(key: string, name: string, size: AppEngineSize) {
  return {
    key,
    name,
    type: 'application',
    specs: `${size.vcpus} vCPU, ${size.memoryMb / 1024} GiB memory`,
    vcpus: size.vcpus,
    memory_mb: size.memoryMb,
    hourly_price_usd: size.price,
    default: size.default,
  };
}
