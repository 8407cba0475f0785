import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { cloudApi, type ArraySpec, type HostedArray, type Inventory } from '@granary/contract/cloud';
import {
  createApiServer,
  createLog,
  fail,
  GranaryError,
  Store,
  systemClock,
  Vault,
  type Actor,
  type TlsSource,
} from '@granary/kernel';

const zones = ['zone_0', 'zone_1', 'zone_2'];
const STOCK_PER_ZONE = 200;

/** A small inventory, as a cloud would serve it. */
export const testInventory: Inventory = {
  uuid: '00000000-0000-4000-8000-00000000c10d',
  version: '0.0.0-test',
  drive_types: [
    driveType(1, 'SSD_10GB', 'ssd', 10, '0.001'),
    driveType(2, 'SSD_100GB', 'ssd', 100, '0.01'),
    driveType(3, 'HDD_1000GB', 'hdd', 1000, '0.02'),
  ],
  engine_types: [engineType(1, 'engine_small', 8, 400, '0.10'), engineType(2, 'engine_medium', 24, 1000, '0.30')],
  app_engines: [
    {
      key: 'app_small',
      name: 'Small',
      type: 'small',
      specs: '1 vCPU, 1 GB',
      vcpus: 1,
      memory_mb: 1024,
      hourly_price_usd: '0.05',
      default: true,
    },
  ],
  fibre_channel: false,
  file_lifecycle: true,
  iscsi_dual_target: true,
  flash_cache: { enabled: true, increment_gb: 200, partition_gb: 20 },
  minimum_drives: 2,
  object_storage: true,
  zones: zones.map((name, id) => ({ id, name, display_name: `Zone ${id}` })),
  policy_types: [
    { id: 1, name: '2-way', replicas: 2, data_fragments: 0, parity_fragments: 0 },
    { id: 2, name: 'erasure 4+2', replicas: 0, data_fragments: 4, parity_fragments: 2 },
  ],
  vlans: { first: 1000, last: 1099 },
  cache_gb_hourly_price_usd: '0.0002',
  public_ip_hourly_price_usd: '0.005',
  proxy_hourly_price_usd: '0.02',
  public_objs_hourly_price_usd: '0.04',
  objs_encryption_hourly_price_usd: '0.03',
};

function driveType(
  id: number,
  key: string,
  medium: 'ssd' | 'hdd',
  capacityGb: number,
  price: string,
): Inventory['drive_types'][number] {
  const total = STOCK_PER_ZONE * zones.length;
  const free_by_zone = Object.fromEntries(zones.map((zone) => [zone, STOCK_PER_ZONE]));
  return {
    id,
    key,
    name: key,
    capacity_gb: capacityGb,
    medium,
    cache: false,
    order: id,
    hourly_price_usd: price,
    total,
    free: total,
    free_by_zone,
  };
}

function engineType(
  id: number,
  key: string,
  maxDrives: number,
  maxCacheGb: number,
  price: string,
): Inventory['engine_types'][number] {
  return {
    id,
    nova_id: 100 + id,
    key,
    name: key,
    specs: `${id * 2} vCPU`,
    hourly_price_usd: price,
    encryption_hourly_price_usd: '0.01',
    max_drives: maxDrives,
    max_cache_gb: maxCacheGb,
    base_cache_gb: 20,
    max_flash_cache_gb: maxCacheGb - 20,
    recommended_flash_cache_gb: 200,
  };
}

type Hosted = Map<string, { spec: ArraySpec; hosted: HostedArray }>;

export interface FakeCloud {
  readonly address: string;
  readonly adminUser: string;
  readonly adminKey: string;
  readonly hosted: Hosted;
  /** The portal it belongs to. */
  owner: string | undefined;
  /** Answers every `put` with this refusal until it is cleared. */
  refusal: string | undefined;
  /** Arrays that should run while this is set stay `starting` until `setState` says otherwise. */
  isSlow: boolean;
  /** Every call about an array ends in an internal error for as long as this is set. */
  isBroken: boolean;
  /** Why public services cannot be served where they are to be, until it is cleared. */
  serviceProblem: string | null;
  /** Where arrays placed from now on say that they are managed. */
  managementUrl: string | undefined;
  /** The certificates that the portal sent for its issuer. */
  readonly renewed: readonly string[];
  /** The hosted array of that name as the portal last described it. */
  specOf(name: string): ArraySpec;
  /** Makes the process of an array die, or come back. */
  setState(name: string, state: HostedArray['state'], reason?: string, outages?: HostedArray['outages']): void;
  /** What the array says of its encryption. */
  setEncryption(name: string, encryption: NonNullable<HostedArray['encryption']>): void;
  /** Makes all its interfaces unbound for a reason, or bound again. */
  setBinding(name: string, problem: string | null): void;
  stop(): Promise<void>;
}

interface FakeCloudOptions {
  readonly host?: string;
  readonly port?: number;
  readonly uuid?: string;
  readonly adminKey?: string;
  /** What an earlier run of this cloud hosted. */
  readonly hosted?: Hosted;
  readonly inventory?: Inventory;
  /** Absent: it serves in the clear. */
  readonly tls?: TlsSource;
}

/** A cloud that keeps its arrays in memory and starts no process: for tests of the portal's own rules. */
export async function startFakeCloud(options: FakeCloudOptions = {}): Promise<FakeCloud> {
  const {
    host = '127.0.0.1',
    port = 0,
    adminKey = 'fake-cloud-key',
    hosted = new Map() as Hosted,
    inventory = testInventory,
  } = options;
  const { uuid: cloudUuid = inventory.uuid } = options;
  const dir = mkdtempSync(join(tmpdir(), 'granary-fake-cloud-'));
  const store = new Store(join(dir, 'cloud.db'), { component: 'fake', steps: [] });
  let number = Math.max(0, ...[...hosted.values()].map((one) => one.hosted.number));
  const fake = {
    address: '',
    adminUser: 'cloud',
    adminKey,
    hosted,
    owner: undefined as string | undefined,
    refusal: undefined as string | undefined,
    isSlow: false,
    isBroken: false,
    serviceProblem: null as string | null,
    managementUrl: undefined as string | undefined,
    renewed: [] as string[],
  };
  const refuseIfBroken = () => {
    if (fake.isBroken) throw new Error('this cloud is broken');
  };
  const app = await createApiServer<typeof cloudApi, Actor>({
    api: cloudApi,
    handlers: {
      inventory: {
        get: () => ({ data: { ...inventoryAfter(inventory, hosted), uuid: cloudUuid } }),
        check: () => ({ data: [] }),
      },
      portal: {
        claim: ({ portal, force }) => {
          if (fake.owner !== undefined && fake.owner !== portal && force !== true)
            throw fail('cloud_claimed', { reason: `it belongs to another portal, ${fake.owner}` });
          fake.owner = portal;
          return { data: { epoch: 1 } };
        },
        renewCertificate: ({ certificate }) => {
          refuseIfBroken();
          fake.renewed.push(certificate);
          return {};
        },
      },
      hostedArrays: {
        list: () => ({ data: [...hosted.values()].map((one) => one.hosted) }),
        get: ({ uuid }) => {
          refuseIfBroken();
          return { data: known(hosted, uuid).hosted };
        },
        put: ({ uuid, desired, spec }) => {
          refuseIfBroken();
          if (fake.refusal !== undefined) throw new GranaryError('cloud_full', fake.refusal);
          const before = hosted.get(uuid)?.hosted;
          const now = hostedArray(uuid, before?.number ?? ++number, desired ?? before?.desired ?? 'running', spec);
          const isStarting = fake.isSlow || before?.state === 'starting';
          const state = isStarting && now.state === 'running' ? ('starting' as const) : now.state;
          const url = before?.management_url ?? fake.managementUrl ?? now.management_url;
          const service = now.public_service && { bound: fake.serviceProblem === null, problem: fake.serviceProblem };
          const hostedNow = {
            ...now,
            encryption: before?.encryption ?? [],
            state,
            management_url: url,
            public_service: service ?? null,
          };
          hosted.set(uuid, { spec, hosted: hostedNow });
          return { data: known(hosted, uuid).hosted };
        },
        spec: ({ uuid }) => ({ data: known(hosted, uuid).spec }),
        delete: ({ uuid }) => {
          refuseIfBroken();
          hosted.delete(uuid);
          return {};
        },
      },
    },
    authenticate: ({ headers }) => {
      const expected = `Basic ${Buffer.from(`cloud:${adminKey}`).toString('base64')}`;
      return headers['authorization'] === expected ? { id: 'cloud', role: 'cloud_admin' } : undefined;
    },
    store,
    vault: Vault.open(join(dir, 'master.key')),
    clock: systemClock,
    log: createLog('fake-cloud', 'silent'),
    version: '0.0.0-test',
    tls: options.tls,
  });
  await app.listen({ host, port });
  fake.address = `${host.includes(':') ? `[${host}]` : host}:${app.addresses().map((bound) => (bound as AddressInfo).port)[0] ?? 0}`;
  return Object.assign(fake, {
    specOf: (name: string) => named(hosted, name).spec,
    setState(name: string, state: HostedArray['state'], reason?: string, outages: HostedArray['outages'] = []) {
      const one = named(hosted, name);
      one.hosted = { ...one.hosted, state, reason: reason ?? null, outages };
    },
    setEncryption(name: string, encryption: NonNullable<HostedArray['encryption']>) {
      const one = named(hosted, name);
      one.hosted = { ...one.hosted, encryption };
    },
    setBinding(name: string, problem: string | null) {
      const one = named(hosted, name);
      const interfaces = one.hosted.interfaces.map((each) => ({ ...each, bound: problem === null, problem }));
      one.hosted = { ...one.hosted, interfaces };
    },
    async stop() {
      await app.close();
      store.close();
      rmSync(dir, { recursive: true, force: true });
    },
  });
}

function named(hosted: Hosted, name: string) {
  const found = [...hosted.values()].find((one) => one.spec.name === name);
  if (!found) throw new Error(`This cloud hosts no array ${name}`);
  return found;
}

function known(hosted: Hosted, uuid: string) {
  const found = hosted.get(uuid);
  if (!found) throw fail('not_found', { kind: 'hosted array', id: uuid });
  return found;
}

/** What is left when every hosted array has its drives. */
function inventoryAfter(whole: Inventory, hosted: Hosted): Inventory {
  const drives = [...hosted.values()].flatMap((one) => one.hosted.drives);
  const drive_types = whole.drive_types.map((type) => {
    const taken = drives.filter((drive) => drive.type === type.key);
    const free_by_zone = Object.fromEntries(
      Object.entries(type.free_by_zone).map(([zone, free]) => [
        zone,
        free - taken.filter((drive) => drive.zone === zone).length,
      ]),
    );
    return { ...type, free: type.total - taken.length, free_by_zone };
  });
  return { ...whole, drive_types };
}

function hostedArray(uuid: string, number: number, desired: 'running' | 'stopped', spec: ArraySpec): HostedArray {
  const zone = spec.zone ?? 'zone_0';
  const left = { ...spec.drives };
  const ofPolicies = spec.policies.flatMap(({ name, drives: counts }) =>
    Object.entries(counts).flatMap(([type, count]) => {
      left[type] = (left[type] ?? 0) - count;
      return Array.from({ length: count }, () => ({ type, policy: name }));
    }),
  );
  const others = Object.entries(left).flatMap(([type, count]) =>
    Array.from({ length: Math.max(0, count) }, () => ({ type, policy: null })),
  );
  const drives = [...ofPolicies, ...others].map(({ type, policy }, index) => ({
    uuid: `${uuid}-${type}-${index}`,
    number: index + 1,
    type,
    medium: 'ssd' as const,
    capacity_gb: 10,
    node: `node-${index}`,
    zone,
    zone_display_name: zone,
    policy,
  }));
  return {
    uuid,
    number,
    internal_name: `vsa-${number.toString(16).padStart(8, '0')}`,
    desired,
    state: desired === 'running' ? 'running' : 'stopped',
    reason: null,
    outages: [],
    management_url: `http://127.0.0.1:${10_000 + number}`,
    ip_address: '127.0.0.1',
    ipv6_address: null,
    public_ip: spec.public_ip ? `127.65.0.${number}` : null,
    cache_mb: spec.extra_cache_gb * 1024 + 512,
    drives,
    drives_returned: spec.drives_returned,
    policy_drives_returned: spec.policy_drives_returned,
    proxy_zones: spec.proxy_zones,
    proxies_returned: spec.proxies_returned,
    storage_controllers: spec.product === 'object_storage' ? Math.min(2, drives.length) : 0,
    interfaces: spec.interfaces.map(({ id, address }) => ({
      id,
      address,
      bound: desired === 'running',
      problem: null,
    })),
    public_service: spec.public_service ? { bound: desired === 'running', problem: null } : null,
    restarts: 0,
    pid: null,
  };
}
