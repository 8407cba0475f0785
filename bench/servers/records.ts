import { randomUUID } from 'node:crypto';
import { join } from 'node:path';
import { Store, Vault, type Tx } from '@granary/kernel';
import { insertArray, setPlacement, setStatus } from '../../portal/arrays/repository.ts';
import { migrations } from '../../portal/migrations.ts';

/** Puts arrays on record, as a portal that has run for years would have them, before the portal itself is started. */
export async function fillPortal(dataDir: string, count: number): Promise<void> {
  const store = new Store(join(dataDir, 'portal.db'), migrations);
  const vault = Vault.open(join(dataDir, 'master.key'));
  await store.write((tx) => {
    for (let number = 1; number <= count; number += 1) addArray(tx, vault, number);
  });
  store.close();
}

function addArray(tx: Tx, vault: Vault, number: number): void {
  const id = insertArray(tx, {
    uuid: randomUUID(),
    name: `array ${number}`,
    description: 'for the benchmark',
    statusMessage: 'Accepted',
    product: 'storage_array',
    ownerId: 1,
    providerId: 1,
    cloudId: 1,
    spec: {
      zone: null,
      engine: 'engine_small',
      app_engine: 'app_small',
      extra_cache_gb: 200,
      drives: { SSD_10GB: 4, HDD_1000GB: 4 },
      policies: [],
      proxy_zones: [],
      public_ip: false,
      fibre_channel: false,
      file_lifecycle: true,
      iscsi_dual_target: false,
      data_reduction: false,
      raid_10_pools: true,
    },
    initialPasscodeSealed: vault.seal('a passcode'),
    internalKeySealed: vault.seal('a key'),
    createdAt: Date.now(),
  });
  setPlacement(tx, id, {
    uuid: '',
    number,
    internal_name: `vsa-${number.toString(16).padStart(8, '0')}`,
    desired: 'stopped',
    state: 'stopped',
    reason: null,
    outages: [],
    management_url: `http://127.64.${number >> 8}.${number & 255}:7480`,
    ip_address: `127.64.${number >> 8}.${number & 255}`,
    ipv6_address: null,
    public_ip: null,
    drives: [],
    drives_returned: {},
    policy_drives_returned: {},
    proxy_zones: [],
    proxies_returned: 0,
    storage_controllers: 0,
    interfaces: [],
    restarts: 0,
    pid: null,
  });
  setStatus(tx, id, { status: 'hibernated', message: null, progress: 100 });
}
