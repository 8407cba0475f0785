import assert from 'node:assert/strict';
import { test, type TestContext } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import type { ArrayClient } from '@granary/client';
import { fillUnit, type Lun } from '@granary/protocols/iscsi/testing';
import { temporaryFolder } from '../testing/folders.ts';
import { until } from '../testing/waiting.ts';
import { TestArrayProcess, arrayConfiguration } from '../array/testing/array-process.ts';
import { attach, makePool } from './block-array.ts';

const MEGABYTE = 2 ** 20;
const VOLUME_MB = 64;
const TRANSFER_BYTES = 64 * 1024;
const STRETCH_MS = 20_000;
const WARM_UP_MS = 1_000;
const WINDOW_MS = 3_000;
/**
 * A machine that stands still for a moment holds a client back, but never lets more through: that is tried again, until
 * there is a window without such a moment.
 */
const WINDOWS_MAX = 16;

test('a volume does what its caps allow, no more and no less, and is let go at once', async (t) => {
  const { client, volume, open, restart } = await setUp(t);
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

  await t.test('a cap outlives a kill; without it, those who waited by it wait no longer', async (t) => {
    await cap({ read_iops_capping: 4, read_mbps_capping: 0, write_mbps_capping: 0 });
    await restart('kill');
    const load = new Load(await open(), 'read', 4096);
    await sleep(2 * WARM_UP_MS);
    const before = load.done.operations;
    assert.ok(before < 16, `${before} came through a cap of 4 a second`);
    await cap({ read_iops_capping: 0 });
    const from = performance.now();
    // By the cap these would take a minute.
    await until(async () => load.done.operations > before + 240, 'they are let go', 20_000);
    t.diagnostic(`240 reads in ${Math.round(performance.now() - from)} ms`);
    await load.stop();
  });
});

test('points of all that a volume rests on agree with what its client did, also after a restart', async (t) => {
  const scene = await setUp(t);
  const load = new SteadyLoad(await scene.open());
  // Whole intervals are compared: the load begins before the first of them and ends after the last.
  const end = Math.ceil((Date.now() + WARM_UP_MS) / 10_000) * 10_000 + STRETCH_MS;
  await sleep(end - STRETCH_MS - Date.now());
  const before = load.done;
  await sleep(end - Date.now());
  const done = differenceOf(load.done, before);
  await sleep(2 * WARM_UP_MS);
  await load.stop();
  t.diagnostic(`the client: ${JSON.stringify(done)}`);
  for (const interval of [1, 10]) {
    const reported = await reportOf(scene, interval, end);
    agree(reported, done, interval);
    t.diagnostic(`every ${interval} s: ${worst(reported, done)}`);
  }
  await scene.restart('stop');
  const reported = await reportOf(scene, 10, end);
  agree(reported, done, 10);
  t.diagnostic(`after a restart: ${worst(reported, done)}`);
});

interface Report {
  readonly volume: Moved;
  readonly server: Moved;
  readonly pool: Moved;
  readonly group: Moved;
  readonly drives: readonly Moved[];
  /** A controller reports bytes only. */
  readonly controller: Pick<Moved, 'bytesRead' | 'bytesWritten'>;
}

async function reportOf(scene: Scene, interval: number, end: number): Promise<Report> {
  const { client, volume, server, pool, group } = scene;
  const { disks } = await client.raidGroups.listDrives({ id: group });
  const { vcontrollers } = await client.controllers.list();
  // After a restart the same one is active again.
  const id = vcontrollers.find(({ state }) => state === 'active')?.name ?? '';
  // An array that has just started again knows of the last seconds a little later.
  const { usages } = await until(async () => {
    const found = await client.controllers.performance({ id, interval });
    return (found.usages.at(-1)?.point ?? 0) * 1000 >= end && found;
  }, 'the whole period is reported');
  const controller = within(usages, interval, end);
  const moved = ({ usages: points }: { readonly usages: readonly Point[] }) => movedIn(points, interval, end);
  return {
    volume: moved(await client.volumes.performance({ id: volume, interval })),
    server: moved(await client.servers.performance({ id: server, interval })),
    pool: moved(await client.pools.performance({ id: pool, interval })),
    group: moved(await client.raidGroups.performance({ id: group, interval })),
    drives: await Promise.all(
      disks.map(async ({ name }) => moved(await client.drives.performance({ id: name, interval }))),
    ),
    controller: {
      bytesRead: controller.reduce((sum, { gb_rd }) => sum + gb_rd, 0) * 1024 * MEGABYTE,
      bytesWritten: controller.reduce((sum, { gb_wrt }) => sum + gb_wrt, 0) * 1024 * MEGABYTE,
    },
  };
}

/**
 * What the client asked for in aligned pieces of 64 KiB of a plain volume without a cache is asked of its pool and its
 * group in the same pieces: none of them spans two extents. A mirror writes each piece to both of its drives, and reads
 * it from one of them. What drives write beyond that (checksums, marks) is a few blocks in a thousand.
 */
function agree({ volume, server, pool, group, drives, controller }: Report, done: Moved, interval: number): void {
  for (const [name, moved] of Object.entries({ volume, server, pool, group })) {
    near(moved, done, `${name} by ${interval} s`);
  }
  for (const { writes, bytesWritten } of drives) {
    near({ writes, bytesWritten }, done, `drive by ${interval} s`);
  }
  const reads = drives.reduce((sum, drive) => sum + drive.reads, 0);
  const bytesRead = drives.reduce((sum, drive) => sum + drive.bytesRead, 0);
  near({ reads, bytesRead }, done, `both drives by ${interval} s`);
  near(controller, done, `controller by ${interval} s`);
}

function near(found: Partial<Moved>, done: Moved, what: string): void {
  for (const [field, value] of Object.entries(found) as [keyof Moved, number][]) {
    const ratio = value / done[field];
    assert.ok(ratio > 0.9 && ratio < 1.1, `${field} of ${what}: ${value}, but the client did ${done[field]}`);
  }
}

/** The largest deviation of the figures of the volume. */
function worst({ volume, group }: Report, done: Moved): string {
  const off = [volume, group].flatMap((moved) =>
    (Object.keys(done) as (keyof Moved)[]).map((field) => Math.abs(moved[field] / done[field] - 1)),
  );
  return `${(Math.max(...off) * 100).toFixed(2)} % off`;
}

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
      this.#every(
        10,
        (place) => this.#unit.write(place, buffer),
        () => (this.#writes += 1),
      ),
      this.#every(
        20,
        (place) => this.#unit.read(place, TRANSFER_BYTES / 512),
        () => (this.#reads += 1),
      ),
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
  readonly open: () => Promise<Lun>;
  readonly restart: (how: 'stop' | 'kill') => Promise<void>;
}

async function setUp(t: TestContext): Promise<Scene> {
  const configuration = arrayConfiguration(temporaryFolder(t), 2, 1);
  let array = await TestArrayProcess.start(configuration);
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
  const restart = async (how: 'stop' | 'kill') => {
    await array[how]();
    array = await TestArrayProcess.start(configuration);
  };
  const { session } = await open();
  await fillUnit(session, 0, VOLUME_MB * MEGABYTE);
  return { client, pool, group, volume, server, open, restart };
}
