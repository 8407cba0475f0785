import { randomUUID } from 'node:crypto';
import type { ArraySpec } from '@granary/contract/cloud';
import { defaultConfig } from '../config/defaults.ts';
import type { Config } from '../config/schema.ts';

/** A storage array of two drives. */
export function testSpec(changes: Partial<ArraySpec> = {}): ArraySpec {
  return {
    product: 'storage_array',
    name: 'Accounts',
    owner: 'dana',
    initial_passcode: 'first passcode',
    internal_key: 'internal key',
    zone: null,
    engine: 'engine_xlarge',
    app_engine: null,
    extra_cache_gb: 0,
    drives: { SSD_10GB: 2 },
    drives_returned: {},
    policy_drives_returned: {},
    proxies_returned: 0,
    policies: [],
    proxy_zones: [],
    public_ip: false,
    interfaces: [],
    fibre_channel: false,
    file_lifecycle: false,
    iscsi_dual_target: false,
    data_reduction: false,
    raid_10_pools: false,
    ...changes,
  };
}

/** Six nodes in three zones with few drives each, so that tests run out of them. */
export function testConfig(perNode: number, network: string): Config {
  const config = defaultConfig('linux');
  return {
    ...config,
    nodes: config.nodes.map((node) => ({ ...node, drives: { SSD_10GB: perNode, HDD_1000GB: perNode } })),
    network: { ...config.network, arrays: `${network}.0/25`, public: `${network}.128/25` },
  };
}

export const newUuid = (): string => randomUUID();
