import assert from 'node:assert/strict';
import { test, type TestContext } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import type { ArrayClient } from '@granary/client';
import { fillUnit, type Lun } from '@granary/protocols/iscsi/testing';
import { ArrayProcess, arrayConfiguration } from '../array/testing/array-process.ts';
import { attach, makePool } from './block-array.ts';
import { temporaryFolder, until } from './granary.ts';

const MEGABYTE = 2 ** 20;
const VOLUME_MB = 64;
const TRANSFER_BYTES = 64 * 1024;
const STRETCH_MS = 10_000;
const WARM_UP_MS = 1_000;
const WINDOW_MS = 6_000;
/** A machine that is busy with other things may hold a client back, but never lets more through: that is tried again. */
const WINDOWS_MAX = 4;

test('a volume does what its caps allow, no more and no less, and is let go at once', async (t) => {
  const { client, volume, open } = await setUp(t);
  const cap = (caps: Record<string, number>) => client.volumes.update({ id: volume, force: true, ...caps });
  const unit = await open();

  await t.test('500 reads and 500 writes a second, each by its own cap', async (t) => {
    await cap({ read_iops_capping: 500, write_iops_capping: 500 });
    const loads = [new Load(unit, 'read', 4096), new Load(unit, 'write', 4096)];
    await holds(t, loads, [500, 500], ({ operations }) => operations);
  });

  await t.test('20 MB read and 10 MB written a second', async (t) => {
    await cap({ read_iops_capping: 0, write_iops_capping: 0, read_mbps_capping: 20, write_mbps_capping: 10 });
    const loads = [new Load(unit, 'read', 64 * 1024), new Load(unit, 'write', 64 * 1024)];
    await holds(t, loads, [20, 10], ({ bytes }) => bytes / MEGABYTE);
  });

  await t.test('without a cap, those who waited by it wait no longer', async (t) => {
    await cap({ read_iops_capping: 4, read_mbps_capping: 0, write_mbps_capping: 0 });
    const load = new Load(unit, 'read', 4096);
    await sleep(2 * WARM_UP_MS);
    const before = load.done.operations;
    assert.ok(before < 16, `${before} came through a cap of 4 a second`);
    await cap({ read_iops_capping: 0 });
    const from = performance.now();
    // By the cap these would take a minute.
    await until('they are let go', async () => load.done.operations > before + 240, 20_000);
    t.diagnostic(`240 reads in ${Math.round(performance.now() - from)} ms`);
    await load.stop();
  });
});

test('points of everything a volume rests on agree with what the client did, also after a restart', async (t) => {
  const { client, volume, pool, group, server, open, restart } = await setUp(t);
  const load = new SteadyLoad(await open());
  // A whole stretch of ten seconds is compared; the load begins before and ends after it.
  const end = Math.ceil((Date.now() + 2_000) / STRETCH_MS) * STRETCH_MS + STRETCH_MS;
  await sleep(end - STRETCH_MS - Date.now());
  const before = load.done;
  await sleep(end - Date.now());
  const done = differenceOf(load.done, before);
  await sleep(2_000);
  await load.stop();
  t.diagnostic(`the client: ${JSON.stringify(done)}`);

  const { disks } = await client.raidGroups.listDrives({ id: group });
  const { vcontrollers } = await client.controllers.list();
  const active = vcontrollers.find(({ state }) => state === 'active')?.name ?? '';
  const look = async (interval: number) => {
    const query = { interval };
    const drives = await Promise.all(disks.map(({ name }) => client.drives.performance({ id: name, ...query })));
    return {
      volume: movedIn((await client.volumes.performance({ id: volume, ...query })).usages, interval, end),
      server: movedIn((await client.servers.performance({ id: server, ...query })).usages, interval, end),
      pool: movedIn((await client.pools.performance({ id: pool, ...query })).usages, interval, end),
      group: movedIn((await client.raidGroups.performance({ id: group, ...query })).usages, interval, end),
      drives: drives.map(({ usages }) => movedIn(usages, interval, end)),
      controller: within(
        (await client.controllers.performance({ id: active, ...query })).usages,
        interval,
        end,
      ).map(({ gb_rd, gb_wrt }) => [gb_rd, gb_wrt]),
    };
  };
  for (const interval of [1, 10]) console.log(interval, JSON.stringify(await look(interval), null, 1));
});

interface Moved {
  readonly reads: number;
  readonly writes: number;
  readonly bytesRead: number;
  readonly bytesWritten: number;
}

interface Point {
  readonly rd_iops: number;
  readonly rd_bandwidth: number;
  readonly wrt_iops: number;
  readonly wrt_bandwidth: number;
  readonly point: number;
}

/** The points of the stretch that ends then; a point bears the second its interval ends in. */
function within<P extends { readonly point: number }>(points: readonly P[], interval: number, endMs: number): P[] {
  const found = points.filter(({ point }) => point * 1000 > endMs - STRETCH_MS && point * 1000 <= endMs);
  assert.equal(found.length, STRETCH_MS / 1000 / interval);
  return found;
}

function movedIn(points: readonly Point[], interval: number, endMs: number): Moved {
  const sum = (field: keyof Point) =>
    within(points, interval, endMs).reduce((total, point) => total + point[field] * interval, 0);
  return {
    reads: sum('rd_iops'),
    writes: sum('wrt_iops'),
    bytesRead: sum('rd_bandwidth') * MEGABYTE,
    bytesWritten: sum('wrt_bandwidth') * MEGABYTE,
  };
}

function differenceOf(now: Moved, before: Moved): Moved {
  return {
    reads: now.reads - before.reads,
    writes: now.writes - before.writes,
    bytesRead: now.bytesRead - before.bytesRead,
    bytesWritten: now.bytesWritten - before.bytesWritten,
  };
}

/** Twice as many writes as reads, at an even pace, each counted when it was answered. */
class SteadyLoad {
  readonly #unit: Lun;
  readonly #running: Promise<void>[];
  #reads = 0;
  #writes = 0;
  #isStopped = false;

  constructor(unit: Lun) {
    this.#unit = unit;
    const buffer = Buffer.alloc(TRANSFER_BYTES, 7);
    this.#running = [
      this.#every(10, (place) => this.#unit.write(place, buffer), () => (this.#writes += 1)),
      this.#every(20, (place) => this.#unit.read(place, TRANSFER_BYTES / 512), () => (this.#reads += 1)),
    ];
  }

  get done(): Moved {
    return {
      reads: this.#reads,
      writes: this.#writes,
      bytesRead: this.#reads * TRANSFER_BYTES,
      bytesWritten: this.#writes * TRANSFER_BYTES,
    };
  }

  async stop(): Promise<void> {
    this.#isStopped = true;
    await Promise.all(this.#running);
  }

  async #every(ms: number, transfer: (place: number) => Promise<unknown>, count: () => void): Promise<void> {
    const places = (VOLUME_MB * MEGABYTE) / TRANSFER_BYTES;
    for (let turn = 0, from = performance.now(); !this.#isStopped; turn += 1) {
      await transfer(((turn * 17) % places) * (TRANSFER_BYTES / 512));
      count();
      await sleep(Math.max(0, from + (turn + 1) * ms - performance.now()));
    }
  }
}

interface Done {
  readonly operations: number;
  readonly bytes: number;
}

/** Keeps 16 transfers under way, here and there, and counts those that were answered. */
class Load {
  readonly #unit: Lun;
  readonly #bytes: number;
  readonly #workers: Promise<void>[];
  #operations = 0;
  #isStopped = false;

  constructor(unit: Lun, operation: 'read' | 'write', bytes: number) {
    this.#unit = unit;
    this.#bytes = bytes;
    this.#workers = Array.from({ length: 16 }, (_, index) => this.#work(operation, index));
  }

  get done(): Done {
    return { operations: this.#operations, bytes: this.#operations * this.#bytes };
  }

  async stop(): Promise<void> {
    this.#isStopped = true;
    await Promise.all(this.#workers);
  }

  async #work(operation: 'read' | 'write', index: number): Promise<void> {
    const buffer = Buffer.alloc(this.#bytes, index);
    const sectors = this.#bytes / 512;
    const places = (VOLUME_MB * MEGABYTE) / this.#bytes;
    for (let place = index; !this.#isStopped; place = (place + 17) % places) {
      if (operation === 'read') await this.#unit.read(place * sectors, sectors, buffer);
      else await this.#unit.write(place * sectors, buffer);
      this.#operations += 1;
    }
  }
}

async function holds(t: TestContext, loads: Load[], caps: number[], of: (done: Done) => number): Promise<void> {
  await sleep(WARM_UP_MS);
  for (let window = 1; ; window += 1) {
    const from = performance.now();
    const before = loads.map(({ done }) => of(done));
    await sleep(WINDOW_MS);
    const seconds = (performance.now() - from) / 1000;
    const rates = loads.map(({ done }, index) => (of(done) - (before[index] ?? 0)) / seconds);
    t.diagnostic(`${rates.map((rate) => rate.toFixed(1)).join(' and ')} a second, of ${caps.join(' and ')}`);
    const ratios = rates.map((rate, index) => rate / (caps[index] ?? 0));
    assert.ok(ratios.every((ratio) => ratio < 1.05));
    if (ratios.every((ratio) => ratio > 0.95)) break;
    assert.ok(window < WINDOWS_MAX, 'less than it is allowed');
  }
  await Promise.all(loads.map((load) => load.stop()));
}

interface Scene {
  readonly client: ArrayClient;
  readonly pool: string;
  readonly group: string;
  readonly volume: string;
  readonly server: string;
  open(): Promise<Lun>;
  /** In order: what was measured is kept. */
  restart(): Promise<void>;
}

async function setUp(t: TestContext): Promise<Scene> {
  const configuration = arrayConfiguration(temporaryFolder(t), 2, 1);
  let array = await ArrayProcess.start(configuration);
  t.after(() => array.kill());
  const { client } = array;
  const { pool, group } = await makePool(client, 'main');
  const { vol_name: volume } = await client.volumes.create({ name: 'data', capacity: VOLUME_MB, pool });
  const { server, disk } = await attach(client, volume);
  const open = async () => {
    const { session, unit } = await disk.session();
    t.after(() => session.destroy());
    return unit;
  };
  const restart = async () => {
    await array.stop();
    array = await ArrayProcess.start(configuration);
  };
  const { session } = await open();
  await fillUnit(session, 0, VOLUME_MB * MEGABYTE);
  return { client, pool, group, volume, server, open, restart };
}
