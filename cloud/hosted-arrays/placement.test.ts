import assert from 'node:assert/strict';
import { mkdirSync } from 'node:fs';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test, type TestContext } from 'node:test';
import {
  bytes,
  createLog,
  EventLog,
  GB,
  GranaryError,
  readMigrations,
  Store,
  systemClock,
  Vault,
  type Tx,
} from '@granary/kernel';
import fc from 'fast-check';
import { temporaryFolder } from '../../testing/folders.ts';
import { AddressAllocator } from '../addresses/allocator.ts';
import { checkInventory } from '../inventory/check.ts';
import { DriveFiles } from '../inventory/drive-files.ts';
import { listDrives, listPlacedDrives } from '../inventory/repository.ts';
import { followConfig } from '../inventory/stock.ts';
import { listOwnedByAll } from '../addresses/repository.ts';
import { newUuid, testConfig, testSpec } from '../testing/specs.ts';
import { Placement } from './placement.ts';
import { listArrays, markRemoving } from './repository.ts';

const PER_NODE = 3;
const log = createLog('test', 'silent');

/** Files that stop working after a number of them, as when the process is killed there. */
class BreakingFiles extends DriveFiles {
  left = Infinity;

  override async make(drives: Parameters<DriveFiles['make']>[0]): Promise<void> {
    for (const drive of drives) {
      this.#spend();
      await super.make([drive]);
    }
  }

  override async remove(drives: Parameters<DriveFiles['remove']>[0]): Promise<void> {
    for (const drive of drives) {
      this.#spend();
      await super.remove([drive]);
    }
  }

  #spend(): void {
    if (this.left <= 0) throw new Error('killed here');
    this.left -= 1;
  }
}

async function setUp(folder: string, perNode = PER_NODE) {
  const config = testConfig(perNode, '127.99.0');
  const arraysFolder = join(folder, 'arrays');
  mkdirSync(arraysFolder);
  const store = new Store(
    join(folder, 'cloud.db'),
    readMigrations('cloud', new URL('../migrations/', import.meta.url)),
  );
  const events = new EventLog(systemClock);
  await followConfig(store, events, config, 'test');
  const files = new BreakingFiles(join(folder, 'nodes'));
  const placement = new Placement({
    records: { follow: () => Promise.resolve() },
    keepsFreeFiles: false,
    store,
    vault: new Vault(Buffer.alloc(32)),
    clock: systemClock,
    events,
    log,
    config,
    addresses: new AddressAllocator({ network: config.network, probe: async () => undefined }),
    host: '127.0.0.1',
    machineAddresses: () => ['127.0.0.1', '192.168.7.1', 'fd00:7::1'],
    files,
    folder: arraysFolder,
  });
  const arrays = () => store.read(listArrays).map(({ spec, ...array }) => ({ ...array, drives: spec.drives }));
  const check = () => checkInventory({ store, config, files, arraysFolder, arrays });
  const remove = async (uuid: string) => {
    const array = placement.find(uuid);
    if (!array) return;
    await store.write((tx: Tx) => markRemoving(tx, array.number));
    await placement.remove(array);
  };
  return { store, config, files, placement, check, remove };
}

async function setUpFor(t: TestContext, perNode?: number) {
  const world = await setUp(temporaryFolder(t), perNode);
  t.after(() => world.store.close());
  return world;
}

test('an array is placed once, however often it is asked for', async (t) => {
  const { placement, check, store } = await setUpFor(t);
  const uuid = newUuid();
  const first = await placement.place(uuid, testSpec(), undefined);
  const again = await placement.place(uuid, testSpec(), undefined);
  assert.deepEqual(again, first);
  assert.equal(first.internalName, 'vsa-00000001');
  assert.equal(store.read(listPlacedDrives).length, 2);
  assert.deepEqual(await check(), []);
});

test('an order that the stock cannot fill changes nothing and says how many are free', async (t) => {
  const { placement, check, store } = await setUpFor(t);
  const uuid = newUuid();
  const order = placement.place(uuid, testSpec({ drives: { SSD_10GB: 7 }, zone: 'zone_1' }), undefined);
  await assert.rejects(order, /Only 6 drives of type SSD_10GB are free in zone zone_1; 7 were asked for/);
  assert.equal(placement.find(uuid), undefined);
  assert.ok(store.read(listDrives).every(({ array }) => array === null));
  await placement.place(uuid, testSpec({ drives: { SSD_10GB: 4 } }), undefined);
  const grown = placement.place(uuid, testSpec({ drives: { SSD_10GB: 4, HDD_1000GB: 9 } }), undefined);
  await assert.rejects(grown, { entry: 'out_of_stock' });
  assert.deepEqual(placement.find(uuid)?.spec.drives, { SSD_10GB: 4 });
  assert.deepEqual(await check(), []);
});

test('a storage array stays in its zone as it grows; object storage spreads over all of them', async (t) => {
  const { placement } = await setUpFor(t);
  const [block, objects] = [newUuid(), newUuid()];
  await placement.place(block, testSpec(), undefined);
  const grown = await placement.place(block, testSpec({ drives: { SSD_10GB: 4 } }), undefined);
  assert.equal(new Set(placement.drivesOf(grown).map(({ zone }) => zone)).size, 1);
  assert.equal(new Set(placement.drivesOf(grown).map(({ node }) => node)).size, 2);
  assert.deepEqual(
    placement.drivesOf(grown).map(({ number }) => number),
    [1, 2, 3, 4],
  );
  const policies = [{ name: 'gold', type_id: 1, drives: { HDD_1000GB: 6 } }];
  const spec = testSpec({ product: 'object_storage', engine: null, drives: { HDD_1000GB: 6 }, policies });
  const spread = placement.drivesOf(await placement.place(objects, spec, undefined));
  assert.deepEqual(spread.map(({ zone }) => zone).toSorted(), [
    'zone_0',
    'zone_0',
    'zone_1',
    'zone_1',
    'zone_2',
    'zone_2',
  ]);
  assert.ok(spread.every(({ policy }) => policy === 'gold'));
});

test('what a cloud cannot follow is refused, by name', async (t) => {
  const { placement } = await setUpFor(t);
  const uuid = newUuid();
  const refused = async (changes: Parameters<typeof testSpec>[0], message: RegExp) =>
    assert.rejects(placement.place(uuid, testSpec(changes), undefined), message);
  await refused({ drives: { SSD_1PB: 1 } }, /drives: SSD_1PB is not one of SSD_10GB/);
  await refused({ zone: 'zone_7' }, /zone: zone_7 is not one of/);
  await refused({ engine: 'engine_huge' }, /engine: must be one of engine_small/);
  await refused({ engine: null }, /engine: must be one of/);
  await refused({ extra_cache_gb: 10_000 }, /extra_cache_gb: engine_xlarge takes at most 1600/);
  await refused({ engine: 'engine_small', drives: { SSD_10GB: 9 } }, /drives: engine_small takes at most 8, not 9/);
  await refused({ policies: [{ name: 'a', type_id: 9, drives: {} }] }, /policies: 9 is not one of 1, 2, 3/);
  await refused({ policies: [{ name: 'a', type_id: 1, drives: { SSD_10GB: 3 } }] }, /policies: they need 3 drives/);
  const network = { netmask: '255.255.255.0', gateway: null, vlan_id: 1 };
  await refused(
    { interfaces: [{ id: 1, address: '10.0.0.999', ...network }] },
    /10\.0\.0\.999 of interface 1 is not an IP/,
  );
  await placement.place(uuid, testSpec(), undefined);
  await refused({ drives: { SSD_10GB: 1 } }, /keeps the drives it has/);
  await refused({ zone: 'zone_0' }, /zone cannot change/);
  await refused({ product: 'object_storage' }, /product cannot change/);
});

test('public addresses are given and taken back; secrets are sealed', async (t) => {
  const { placement, store } = await setUpFor(t);
  const [a, b] = [newUuid(), newUuid()];
  const first = await placement.place(a, testSpec({ public_ip: true }), undefined);
  const second = await placement.place(b, testSpec({ public_ip: true }), undefined);
  assert.match(first.publicAddress ?? '', /^127\.99\.0\.1\d\d$/);
  assert.notEqual(second.publicAddress, first.publicAddress);
  assert.equal((await placement.place(a, testSpec({ public_ip: true }), undefined)).publicAddress, first.publicAddress);
  assert.equal((await placement.place(a, testSpec(), undefined)).publicAddress, null);
  const kept = JSON.stringify(store.read((db) => db.all('SELECT * FROM arrays')));
  assert.ok(!kept.includes('first passcode') && !kept.includes('internal key'));
});

test('a missing, shrunk or stray file is found by the check, and never quietly made anew', async (t) => {
  const { placement, check, files } = await setUpFor(t);
  const array = await placement.place(newUuid(), testSpec({ drives: { SSD_10GB: 4 } }), undefined);
  const [a, b] = placement.drivesOf(array);
  await files.remove([a!]);
  await files.make([{ ...b!, capacity: bytes(GB) }]);
  await files.make([{ uuid: newUuid(), node: 'node-6', capacity: bytes(GB) }]);
  await placement.repair();
  const problems = (await check()).join('\n');
  assert.match(problems, new RegExp(`Drive ${a!.uuid} of node ${a!.node}: its file is missing`));
  assert.match(problems, new RegExp(`Drive ${b!.uuid}.* has 1073741824 bytes, not 10737418240`));
  assert.match(problems, /node-6\/.*\.drive belongs to no array/);
});

/**
 * Goal: no drive is ever lost or given twice, whatever is asked and wherever it is cut off. Method: random orders,
 * growth and removals, each perhaps killed after some of its file work and mended as a start would; after each step
 * the database is compared with the disk and with a model that only counts.
 */
test('random orders, growth, removals and crashes leave the database exact', async () => {
  const step = fc.record({
    act: fc.constantFrom('place', 'place', 'grow', 'remove'),
    which: fc.nat({ max: 7 }),
    ssd: fc.nat({ max: 4 }),
    hdd: fc.nat({ max: 3 }),
    zone: fc.constantFrom(null, 'zone_0', 'zone_2'),
    product: fc.constantFrom('storage_array' as const, 'object_storage' as const),
    killedAfter: fc.option(fc.nat({ max: 4 }), { nil: undefined, freq: 3 }),
  });
  const runs = process.env['GRANARY_TORTURE'] === undefined ? 25 : 500;
  await fc.assert(
    fc.asyncProperty(fc.array(step, { minLength: 4, maxLength: 14 }), async (steps) => {
      const folder = await temporary();
      const world = await setUp(folder.path, 2);
      try {
        await runSteps(world, steps);
      } finally {
        world.store.close();
        await folder.remove();
      }
    }),
    { numRuns: runs },
  );
});

type World = Awaited<ReturnType<typeof setUp>>;
interface Step {
  readonly act: 'place' | 'grow' | 'remove';
  readonly which: number;
  readonly ssd: number;
  readonly hdd: number;
  readonly zone: string | null;
  readonly product: 'storage_array' | 'object_storage';
  readonly killedAfter: number | undefined;
}

async function runSteps(world: World, steps: readonly Step[]): Promise<void> {
  const { placement, files, store, check, remove } = world;
  const uuids = Array.from({ length: 8 }, newUuid);
  for (const step of steps) {
    const uuid = uuids[step.which]!;
    const before = placement.find(uuid);
    files.left = step.killedAfter ?? Infinity;
    const work = step.act === 'remove' ? remove(uuid) : order(world, uuid, step);
    const failure = await work.then(
      () => undefined,
      (error: unknown) => (error instanceof GranaryError ? error.entry : (error as Error).message),
    );
    assert.ok([undefined, 'out_of_stock', 'killed here'].includes(failure), failure);
    files.left = Infinity;
    if (failure === 'killed here') await placement.repair();
    assert.deepEqual(await check(), []);
    const after = placement.find(uuid);
    if (failure === 'out_of_stock') assert.deepEqual(after, before);
    if (step.act === 'remove') assert.equal(after, undefined);
    const placed = store.read(listPlacedDrives);
    const ordered = store.read(listArrays).flatMap(({ spec }) => Object.values(spec.drives));
    assert.equal(
      placed.length,
      ordered.reduce((sum, count) => sum + count, 0),
    );
    assert.equal(store.read(listDrives).length, 6 * 2 * 2);
  }
}

async function order({ placement }: World, uuid: string, { act, ssd, hdd, zone, product }: Step): Promise<void> {
  const known = placement.find(uuid);
  if (!known && act === 'grow') return;
  const had = known?.spec.drives ?? {};
  const drives = { SSD_10GB: (had['SSD_10GB'] ?? 0) + ssd, HDD_1000GB: (had['HDD_1000GB'] ?? 0) + hdd };
  const kind = known ? { product: known.product, zone: known.spec.zone } : { product, zone };
  const engine = kind.product === 'storage_array' ? 'engine_xlarge' : null;
  await placement.place(uuid, testSpec({ ...kind, engine, drives }), undefined);
}

async function temporary(): Promise<{ path: string; remove: () => Promise<void> }> {
  const path = await mkdtemp(join(tmpdir(), 'granary-test-'));
  return { path, remove: () => rm(path, { recursive: true, force: true }) };
}

test('no interface may have an address of the cloud, of its ranges, or of another array', async (t) => {
  const { placement } = await setUpFor(t);
  const at = (address: string, vlan_id = 100) =>
    testSpec({ interfaces: [{ id: 1, address, netmask: '255.255.255.0', gateway: null, vlan_id }] });
  const first = newUuid();
  await placement.place(first, at('10.0.0.5'), undefined);
  await placement.place(first, at('10.0.0.5'), undefined);
  for (const address of ['127.99.0.77', '::ffff:127.99.0.77', '127.99.0.200', '127.0.0.1', '127.1', '0.0.0.0', '::'])
    await assert.rejects(
      placement.place(newUuid(), at(address), undefined),
      (error: GranaryError) => error.entry === 'bad_parameter' && /at interfaces: /.test(error.message),
      address,
    );
});

const inNetwork = (address: string, vlan_id = 100, forced?: true) => ({
  id: 1,
  address,
  netmask: '255.255.255.0',
  gateway: null,
  vlan_id,
  ...(forced && { forced }),
});

test('both addresses of an interface are the array’s alone, and given back together', async (t) => {
  const { placement, store } = await setUpFor(t);
  const ipv6 = { address: 'fd00::5', netmask: 'ffff::', gateway: null };
  const both = testSpec({ interfaces: [{ ...inNetwork('10.0.0.5'), ipv6 }] });
  const [first, second] = [newUuid(), newUuid()];
  const placed = await placement.place(first, both, undefined);
  assert.deepEqual(placement.addressesOf(placed), ['10.0.0.5', 'fd00::5']);
  const other = testSpec({ interfaces: [{ ...inNetwork('10.0.0.6'), ipv6: { ...ipv6, address: 'FD00:0::5' } }] });
  await assert.rejects(placement.place(second, other, undefined), /FD00:0::5 of interface 1 is taken by another array/);
  const bad = testSpec({ interfaces: [{ ...inNetwork('10.0.0.6'), ipv6: { ...ipv6, address: 'fd00::x' } }] });
  await assert.rejects(placement.place(second, bad, undefined), /fd00::x of interface 1 is not an IP address/);
  await placement.place(first, testSpec(), undefined);
  assert.deepEqual(store.read(listOwnedByAll), []);
});

test('an address has one array for as long as the array exists, whatever its VLAN', async (t) => {
  const { placement, remove, store } = await setUpFor(t);
  const at = (...given: Parameters<typeof inNetwork>) => testSpec({ interfaces: [inNetwork(...given)] });
  const [first, second] = [newUuid(), newUuid()];
  await placement.place(first, at('10.0.0.5'), undefined);
  await placement.place(first, at('10.0.0.5'), 'stopped');
  for (const [address, vlan] of [
    ['10.0.0.5', 100],
    ['10.0.0.5', 101],
    ['::ffff:10.0.0.5', 101],
  ] as const) {
    await assert.rejects(placement.place(second, at(address, vlan), undefined), /is taken by another array/);
    assert.equal(placement.find(second), undefined, 'a refused array is not placed');
  }
  await placement.place(second, at('10.0.0.6'), undefined);
  await assert.rejects(placement.place(second, at('10.0.0.5', 101), undefined), { entry: 'bad_parameter' });
  const kept = placement.find(second);
  assert.ok(kept);
  assert.deepEqual(placement.addressesOf(kept), ['10.0.0.6'], 'a refused change gives nothing back');
  await placement.place(first, testSpec(), undefined);
  await placement.place(second, at('10.0.0.5', 101), undefined);
  await remove(second);
  assert.deepEqual(store.read(listOwnedByAll), []);
  await placement.place(first, at('10.0.0.5'), undefined);
});

test("an address of the machine's own is refused unless an administrator forced its network", async (t) => {
  const { placement } = await setUpFor(t);
  const at = (...given: Parameters<typeof inNetwork>) => testSpec({ interfaces: [inNetwork(...given)] });
  for (const address of ['192.168.7.1', '::ffff:192.168.7.1', 'fd00:7::1'])
    await assert.rejects(placement.place(newUuid(), at(address), undefined), /an address of the machine itself/);
  await placement.place(newUuid(), at('192.168.7.1', 100, true), undefined);
  await assert.rejects(placement.place(newUuid(), at('127.99.0.77', 100, true), undefined), /gives out itself/);
});

test('where an earlier version gave one address to two arrays, the older one keeps it', async (t) => {
  const folder = temporaryFolder(t);
  const { steps, component } = readMigrations('cloud', new URL('../migrations/', import.meta.url));
  const before = new Store(join(folder, 'cloud.db'), { component, steps: steps.slice(0, 1) });
  const shared = JSON.stringify({ ...testSpec(), interfaces: [inNetwork('10.0.0.5')] });
  await before.write((tx) => {
    for (const n of [1, 2])
      tx.run(
        `INSERT INTO arrays (uuid, product, desired, address, port, spec, secrets, created_at)
         VALUES (:uuid, 'storage_array', 'running', :address, 7480, :spec, '', 0)`,
        { uuid: `array-${n}`, address: `127.99.0.${n}`, spec: shared },
      );
  });
  before.close();
  const { placement, store } = await setUp(folder);
  t.after(() => store.close());
  const owned = store.read(listArrays).map((array) => placement.addressesOf(array));
  assert.deepEqual(owned, [['10.0.0.5'], []]);
});

test('an array whose files cannot be made says why and keeps no other down', async (t) => {
  const { placement, files, check } = await setUpFor(t);
  const [broken, sound] = [newUuid(), newUuid()];
  await placement.place(sound, testSpec(), undefined);
  files.left = 1;
  await assert.rejects(placement.place(broken, testSpec(), undefined), /killed here/);
  const problems = await placement.repair();
  assert.deepEqual([...problems.keys()], [broken]);
  assert.match(problems.get(broken) ?? '', /could not be made: killed here\. Restore it to try again/);
  files.left = Infinity;
  assert.equal((await placement.repair()).size, 0);
  assert.deepEqual(await check(), []);
});
