import assert from 'node:assert/strict';
import { randomBytes } from 'node:crypto';
import { test, type TestContext } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { arrayApi } from '@granary/contract/array';
import { until } from '../../testing/waiting.ts';
import { testArray } from '../testing/test-array.ts';
import { testDisk, type TestDisk } from '../testing/test-disk.ts';
import { MB } from '../units.ts';

const { migrationJobs, consistencyGroups, snapshots, snapshotSets, volumes, pools, controllers, settings } =
  arrayApi.groups;
const CONFLICT = 10100;
const FULL = 10200;
const GROUP_NOT_FOUND = 10085;
const SNAPSHOT_NOT_FOUND = 10083;
const JOB_NOT_FOUND = 10088;

async function setUp(t: TestContext, megabytes: number) {
  const array = await testArray(t, { drives: 4 });
  const { client } = array;
  const [from, to] = [await array.pool({ name: 'from' }), await array.pool({ name: 'to' })];
  const id = await array.volume(from, { name: 'data', capacity: '400M' });
  const get = async () => (await client.call(volumes.get, { id })).volume;
  const { cg_name } = await get();
  const disk = await testDisk(t, array, id);
  const bytes = randomBytes(megabytes * MB);
  await disk.write(0, bytes);
  const start = async (more = {}) => {
    const input = { volume_cg_id: cg_name, poolname: to, timeout: -1, ...more };
    const { migration_job_name: name } = await client.call(consistencyGroups.migrate, input);
    assert.match(name, /^mgrjob-/, 'at once, whatever the timeout is');
  };
  const job = async (cg = cg_name) => (await client.call(migrationJobs.get, { migration_cg_id: cg })).migration_job;
  const status = async (wanted: string) => {
    await until(async () => (await job()).status === wanted, `the job is ${wanted}`);
  };
  const used = async (name: string) => {
    const { pool } = await client.call(pools.get, { id: name });
    return Math.round((pool.capacity - pool.available_capacity) * 1024);
  };
  return { array, client, id, from, to, cg: cg_name, disk, bytes, start, job, status, get, used };
}

/** Writes here and there until asked to stop; then what the volume should hold. */
function keepWriting(disk: TestDisk, bytes: Buffer): () => Promise<Buffer> {
  const expected = Buffer.from(bytes);
  const stopped = new AbortController();
  const writing = (async () => {
    while (!stopped.signal.aborted) {
      const at = Math.floor((Math.random() * bytes.length) / MB);
      const some = randomBytes(MB);
      await disk.write(at, some);
      some.copy(expected, at * MB);
    }
  })();
  return async () => {
    stopped.abort();
    await writing;
    return expected;
  };
}

test('a volume moves with its snapshots while it is written to, and nothing is lost', async (t) => {
  const it = await setUp(t, 32);
  const { client, disk, from, to, cg, id } = it;
  const { snapshot_name } = await client.call(snapshots.create, { volume_cg_id: cg, display_name: 'before' });
  const refused = await client.refused(consistencyGroups.migrate, { volume_cg_id: cg, poolname: to });
  assert.equal(refused.code, CONFLICT);
  assert.match(refused.message, /has 1 snapshot; send migratesnap=YES/);
  const stop = keepWriting(disk, it.bytes);
  await sleep(100);
  await it.start({ migratesnap: true });
  const { status, migration } = { ...(await it.job()), migration: await it.job() };
  assert.ok(['Running', 'Completed'].includes(status));
  assert.deepEqual(
    [migration.src_cg_name, migration.src_pool_display_name, migration.dst_pool_display_name],
    [cg, 'from', 'to'],
  );
  await it.status('Completed');
  const expected = await stop();
  assert.deepEqual(await disk.read(0, 32), expected);
  const volume = await it.get();
  const done = await it.job();
  assert.deepEqual([volume.pool_name, volume.cg_name], [to, done.dst_cg_name]);
  assert.notEqual(done.dst_cg_name, cg);
  assert.deepEqual([done.remaining_time_seconds, done.cur_sync_rate_kb_sec, done.shipping_display_name], [0, 0, null]);
  assert.ok(done.total_capacity_to_migrate_mb > 0);
  assert.equal(done.already_migrated_mb, done.total_capacity_to_migrate_mb);
  // Both names find the job, only the new one the volume.
  assert.deepEqual(await it.job(done.dst_cg_name), done);
  assert.equal((await client.refused(snapshots.listOfGroup, { volume_cg_id: cg })).code, GROUP_NOT_FOUND);
  assert.equal((await client.call(snapshots.get, { id: snapshot_name })).snapshot.pool_name, to);
  const input = { volume_cg_id: volume.cg_name, name: 'old', snapshot: snapshot_name };
  await client.call(consistencyGroups.clone, input);
  const clone = (await client.call(volumes.list, { display_name: 'old' })).volumes[0]!;
  assert.equal(clone.pool_name, to);
  assert.deepEqual(await (await testDisk(t, it.array, clone.name)).read(0, 32), it.bytes);
  await client.call(pools.delete, { id: from });
  await it.array.restart();
  await disk.login(t);
  assert.deepEqual(await disk.read(0, 32), expected);
  assert.equal((await it.get()).name, id);
});

test('a paused migration copies nothing, stays paused over a restart, and goes on when asked to', async (t) => {
  const it = await setUp(t, 64);
  const { client, cg, disk, to } = it;
  await it.start();
  await client.call(migrationJobs.pause, { migration_cg_id: cg });
  assert.equal((await client.refused(migrationJobs.pause, { migration_cg_id: cg })).code, CONFLICT);
  const paused = await it.job();
  assert.equal(paused.status, 'Paused');
  await sleep(300);
  const later = await it.job();
  assert.deepEqual([later.already_migrated_mb, later.cur_sync_rate_kb_sec], [paused.already_migrated_mb, 0]);
  assert.ok(later.already_migrated_mb < 64);
  assert.equal((await it.get()).status, 'Migrating');
  const busy = [
    await client.refused(volumes.delete, { id: it.id, force: true }),
    await client.refused(volumes.expand, { id: it.id, capacity: '1G' } as never),
    await client.refused(snapshots.create, { volume_cg_id: cg, display_name: 'no' }),
    await client.refused(snapshotSets.suspend, { snapsetid: 'no', cg: [cg] }),
    await client.refused(consistencyGroups.clone, { volume_cg_id: cg, name: 'no' }),
    await client.refused(consistencyGroups.migrate, { volume_cg_id: cg, poolname: to }),
  ];
  // It is attached, too, which a deletion reports first.
  assert.deepEqual(
    busy.slice(1).map(({ code }) => code),
    [CONFLICT, CONFLICT, CONFLICT, CONFLICT, CONFLICT],
  );
  await it.array.restart();
  await sleep(300);
  assert.equal((await it.job()).status, 'Paused');
  assert.equal((await it.get()).pool_name, it.from);
  await disk.login(t);
  const late = randomBytes(8 * MB);
  await disk.write(10, late);
  await client.call(migrationJobs.continue, { migration_cg_id: cg });
  await it.status('Completed');
  late.copy(it.bytes, 10 * MB);
  assert.deepEqual(await disk.read(0, 64), it.bytes);
  assert.equal((await it.get()).pool_name, to);
});

test('the snapshot that a migration works with is listed until it ends, and is of no other use', async (t) => {
  const it = await setUp(t, 1);
  const { client, cg, disk } = it;
  const { snapshot_name: own } = await client.call(snapshots.create, { volume_cg_id: cg, display_name: 'own' });
  // Most of the work comes after the snapshots of the user.
  await disk.write(0, randomBytes(192 * MB));
  const listed = async (more = {}) => {
    const page = await client.call(snapshots.listOfGroup, { volume_cg_id: cg, ...more });
    assert.ok(page.count >= page.snapshots.length);
    return page.snapshots;
  };
  assert.deepEqual(await listed({ application: 'migration' }), []);
  await it.start({ migratesnap: true });
  // Paused before its turn came it has none yet.
  await client.call(migrationJobs.pause, { migration_cg_id: cg });
  while ((await listed({ application: 'migration' })).length === 0) {
    await client.call(migrationJobs.continue, { migration_cg_id: cg });
    await client.call(migrationJobs.pause, { migration_cg_id: cg });
  }
  const [working, ...more] = await listed({ application: 'migration' });
  assert.ok(working);
  assert.deepEqual(more, []);
  assert.deepEqual(
    [working.display_name, working.pool_name, working.volume_ext_name, working.volume_capacity_mb],
    ['Migration of data', it.from, it.id, 400],
  );
  const names = async (filter = {}) => (await listed(filter)).map(({ name }) => name);
  assert.deepEqual(await names(), [own, working.name]);
  assert.deepEqual(await names({ start: 1, limit: 1 }), [working.name]);
  assert.deepEqual(await names({ limit: 1 }), [own]);
  assert.deepEqual(await names({ application: 'user' }), [own]);
  assert.deepEqual(await names({ application: 'obs_mirror' }), []);
  assert.deepEqual(await names({ jobname: 'srcjarray-00000001' }), []);
  assert.deepEqual(await names({ start_date: '31:12:98:23:59:59' }), []);
  assert.equal((await client.call(snapshots.list, {})).count, 2);
  assert.deepEqual((await client.call(snapshots.get, { id: working.name })).snapshot, working);
  for (const refused of [
    await client.refused(snapshots.delete, { snapshot_id: working.name }),
    await client.refused(snapshots.rename, { id: working.name, newname: 'mine' }),
    await client.refused(consistencyGroups.clone, { volume_cg_id: cg, name: 'no', snapshot: working.name }),
  ])
    assert.equal(refused.code, CONFLICT);
  await client.call(migrationJobs.abort, { migration_cg_id: cg });
  assert.deepEqual(await names(), [own]);
  assert.equal((await client.refused(snapshots.get, { id: working.name })).code, SNAPSHOT_NOT_FOUND);
});

test('a migration that goes on after a pause ends as if there had been none', async (t) => {
  const it = await setUp(t, 64);
  const { client, cg, disk } = it;
  await it.start();
  for (let n = 0; n < 3; n++) {
    await client.call(migrationJobs.pause, { migration_cg_id: cg });
    await client.call(migrationJobs.continue, { migration_cg_id: cg });
  }
  await it.status('Completed');
  assert.deepEqual(await disk.read(0, 64), it.bytes);
  for (const call of [migrationJobs.pause, migrationJobs.continue, migrationJobs.abort]) {
    assert.equal((await client.refused(call, { migration_cg_id: cg })).code, CONFLICT);
  }
});

test('an aborted migration leaves the volume where it was and nothing where it went', async (t) => {
  const it = await setUp(t, 64);
  const { client, cg, disk, from, to } = it;
  const before = await it.used(to);
  await it.start();
  await client.call(migrationJobs.abort, { migration_cg_id: cg });
  const aborted = await it.job();
  assert.deepEqual([aborted.status, aborted.remaining_time_seconds], ['Aborted', null]);
  const volume = await it.get();
  assert.deepEqual([volume.pool_name, volume.cg_name, volume.status], [from, cg, 'In-use']);
  assert.deepEqual(await disk.read(0, 64), it.bytes);
  await until(async () => (await it.used(to)) === before, 'the space of the copy is free again');
  // Paused ones can be aborted, too, and it can be begun anew.
  await it.start();
  await client.call(migrationJobs.pause, { migration_cg_id: cg });
  await client.call(migrationJobs.abort, { migration_cg_id: cg });
  assert.equal((await it.get()).pool_name, from);
  await it.start();
  await it.status('Completed');
  assert.equal((await it.get()).pool_name, to);
  assert.deepEqual(await disk.read(0, 64), it.bytes);
});

test('a migration that is aborted before its move begins does not move', async (t) => {
  const it = await setUp(t, 8);
  const { client, cg, from, to } = it;
  const before = await it.used(to);
  // The job begins at some moment of the abort, another one each time.
  for (let round = 0; round < 8; round++) {
    await it.start();
    await sleep(round % 3);
    await client.call(migrationJobs.abort, { migration_cg_id: cg });
    assert.equal((await it.job()).status, 'Aborted');
  }
  await until(async () => (await it.used(to)) === before, 'nothing is left in the other pool');
  assert.equal((await it.get()).pool_name, from);
  assert.deepEqual(await it.disk.read(0, 8), it.bytes);
});

test('a migration cut off by a restart or a failover ends all the same', async (t) => {
  const it = await setUp(t, 64);
  const { client, disk, to } = it;
  await it.start();
  await it.array.restart();
  assert.ok(['Running', 'Completed'].includes((await it.job()).status));
  await client.call(controllers.failover, {});
  await it.status('Completed');
  await disk.login(t);
  assert.deepEqual(await disk.read(0, 64), it.bytes);
  assert.equal((await it.get()).pool_name, to);
});

test('what cannot be moved is refused, and changes nothing', async (t) => {
  const it = await setUp(t, 64);
  const { client, cg, from, array } = it;
  const migrate = (poolname: string, volume_cg_id = cg) =>
    client.refused(consistencyGroups.migrate, { volume_cg_id, poolname });
  assert.equal((await migrate(from)).code, CONFLICT);
  assert.equal((await migrate('pool-ffffffff')).code, 10080);
  assert.equal((await migrate(it.to, 'cg-ffffffff')).code, GROUP_NOT_FOUND);
  await client.call(pools.delete, { id: it.to });
  const { raid_groups } = await client.call(arrayApi.groups.raidGroups.listFree, {});
  const small = await array.pool({ groups: [raid_groups[0]!.name], capacity: '32M' });
  await client.call(pools.updateProtection, { id: small, protectedmode: 0, alertmode: 0 });
  assert.equal((await migrate(small)).code, FULL);
  assert.equal((await it.get()).status, 'In-use');
  assert.equal((await client.refused(migrationJobs.get, { migration_cg_id: cg })).code, JOB_NOT_FOUND);
});

test('dm_concurrency_level limits how many volumes move at a time; the others wait in their order', async (t) => {
  const it = await setUp(t, 64);
  const { client, array, from, to } = it;
  assert.equal((await client.call(controllers.list, {})).vcontrollers[0]?.dm_concurrency_level, 4);
  await client.call(settings.update, { dm_concurrency_level: 1 });
  assert.equal((await client.call(controllers.list, {})).vcontrollers[0]?.dm_concurrency_level, 1);
  const groups = [it.cg];
  for (const name of ['second', 'third']) {
    const id = await array.volume(from, { name });
    await (await testDisk(t, array, id)).write(0, randomBytes(MB));
    groups.push((await client.call(volumes.get, { id })).volume.cg_name);
  }
  for (const volume_cg_id of groups) await client.call(consistencyGroups.migrate, { volume_cg_id, poolname: to });
  const jobs = () => Promise.all(groups.map((group) => it.job(group)));
  // One that is paused is nobody's turn.
  await client.call(migrationJobs.pause, { migration_cg_id: it.cg });
  await until(async () => (await jobs()).slice(1).every(({ status }) => status === 'Completed'));
  assert.equal((await it.job()).status, 'Paused');
  await client.call(migrationJobs.continue, { migration_cg_id: it.cg });
  await it.status('Completed');
  assert.deepEqual(await it.disk.read(0, 64), it.bytes);
});

test('a volume that waits for its turn copies nothing until the one before has arrived', async (t) => {
  const it = await setUp(t, 64);
  const { client, array, from, to } = it;
  await client.call(settings.update, { dm_concurrency_level: 1 });
  const id = await array.volume(from, { name: 'second' });
  await (await testDisk(t, array, id)).write(0, randomBytes(MB));
  const { cg_name } = (await client.call(volumes.get, { id })).volume;
  await it.start();
  await it.start({ volume_cg_id: cg_name });
  await until(async () => {
    // In this order: what the second has copied may only follow on the end of the first.
    const second = await it.job(cg_name);
    const first = await it.job();
    if (first.status !== 'Completed') {
      assert.deepEqual([second.status, second.already_migrated_mb, second.cur_sync_rate_kb_sec], ['Running', 0, 0]);
    }
    return second.status === 'Completed';
  });
  const arrived = await Promise.all([it.id, id].map((name) => client.call(volumes.get, { id: name })));
  assert.deepEqual(
    arrived.map(({ volume }) => volume.pool_name),
    [to, to],
  );
});
