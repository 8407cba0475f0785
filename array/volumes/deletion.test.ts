import assert from 'node:assert/strict';
import { test } from 'node:test';
import { until } from '../../testing/waiting.ts';
import { findAnyVolume } from './repository.ts';
import { volumesAlone, wantedVolume } from './testing/volumes-alone.ts';

const HOUR_MS = 3_600_000;
const plainly = { force: false };

test('in the recycle bin a volume keeps its bytes, loses its name, and goes for good when its time is up', async (t) => {
  const { engine, clock, bin, array } = await volumesAlone(t);
  const { volumes, store, titles } = array;
  bin.isOn = true;
  const { name } = await volumes.create(wantedVolume('data'), 'dana');
  assert.equal(await volumes.delete(name, plainly, 'dana'), undefined, 'there is no job to wait for');
  assert.throws(() => volumes.get(name), { entry: 'volume_not_found' });
  assert.equal(volumes.list({}, { start: 0, limit: 0 }).count, 0);
  const again = await volumes.create(wantedVolume('data'), 'dana');
  assert.notEqual(again.name, name);
  clock.advance(24 * HOUR_MS - 1);
  await volumes.purge();
  assert.ok(engine.volumes.has(name));
  clock.advance(1);
  await volumes.purge();
  await until(() => store.read((db) => findAnyVolume(db, name)) === undefined);
  assert.deepEqual([engine.volumes.has(name), engine.volumes.has(again.name)], [false, true]);
  assert.deepEqual(titles(name).slice(1), [
    `Volume data (${name}) was put in the recycle bin.`,
    `Volume data (${name}) is being deleted.`,
    `Volume data (${name}) was deleted.`,
  ]);
});

test('what comes back from the bin is not purged, has its caps again, and says that it came back', async (t) => {
  const { engine, clock, bin, array } = await volumesAlone(t);
  const { volumes, titles } = array;
  bin.isOn = true;
  const { name } = await volumes.create(wantedVolume('data', { readIopsCap: 20 }), 'dana');
  await volumes.delete(name, plainly, 'dana');
  engine.caps.clear();
  await volumes.undelete(name, undefined, 'dana');
  assert.equal(engine.caps.get(name)?.readIops, 20);
  clock.advance(25 * HOUR_MS);
  await volumes.purge();
  assert.equal(volumes.get(name).state, 'ready');
  assert.equal(titles(name).at(-1), `Volume data (${name}) was brought back from the recycle bin.`);
  await assert.rejects(volumes.undelete(name, undefined, 'dana'), { entry: 'state_conflict' });
});

test('a volume in the bin can be deleted for good before its time; one that is not there cannot', async (t) => {
  const { engine, bin, array } = await volumesAlone(t);
  const { volumes, jobs } = array;
  const { name } = await volumes.create(wantedVolume('data'), 'dana');
  await assert.rejects(volumes.deleteFromBin(name, 'dana'), { entry: 'nothing_to_delete' });
  await assert.rejects(volumes.deleteFromBin('volume-99999999', 'dana'), { entry: 'volume_not_found' });
  bin.isOn = true;
  await volumes.delete(name, plainly, 'dana');
  assert.equal((await jobs.wait(await volumes.deleteFromBin(name, 'dana'), -1))?.state, 'done');
  assert.equal(engine.volumes.size, 0);
  const other = await volumes.create(wantedVolume('data'), 'dana');
  const job = await volumes.delete(other.name, { force: false, skipBin: true }, 'dana');
  assert.equal((await jobs.wait(job ?? 0, -1))?.state, 'done', 'what skips the bin goes at once');
});

test('deleting twice is one deletion, and its name is free while it is under way', async (t) => {
  const { array } = await volumesAlone(t);
  const { volumes, jobs } = array;
  const { name } = await volumes.create(wantedVolume('data'), 'dana');
  const numbers = await Promise.all([
    volumes.delete(name, plainly, 'dana'),
    volumes.delete(name, plainly, 'dana'),
    volumes.create(wantedVolume('data'), 'dana').then(
      () => undefined,
      (error: unknown) => (error as { entry: string }).entry,
    ),
  ]);
  assert.equal(numbers[0], numbers[1]);
  await jobs.wait(numbers[0] ?? 0, -1);
  assert.throws(() => volumes.get(name), { entry: 'volume_not_found' });
});

test('an attached, mirrored or migrating volume is not deleted, and one with snapshots only by force', async (t) => {
  const { array } = await volumesAlone(t);
  const { volumes, store, jobs } = array;
  const { name } = await volumes.create(wantedVolume('data'), 'dana');
  const run = (sql: string) => store.write((tx) => tx.run(sql.replaceAll('?', `'${name}'`)));
  const refused = (entry: string, options = { force: true }) =>
    assert.rejects(volumes.delete(name, options, 'dana'), { entry });

  await run(`INSERT INTO attachments VALUES (?, 'srv-00000001', 'ISCSI', 0, 0, 0)`);
  await refused('volume_attached');
  await run('DELETE FROM attachments');
  await run(`UPDATE volumes SET migration = 'mgrjob-00000001'`);
  await refused('state_conflict');
  await run(`UPDATE volumes SET migration = NULL, mirror_job = 'dstjarray-00000001'`);
  await refused('state_conflict');
  await run('UPDATE volumes SET mirror_job = NULL');
  await run(
    `INSERT INTO snapshots (name, display_name, volume, size_bytes, application, state, created_at, modified_at)
     VALUES ('snap-00000001', 'one', ?, 1, 'user', 'ready', 0, 0)`,
  );
  await refused('volume_has_snapshots', plainly);
  const job = await volumes.delete(name, { force: true }, 'dana');
  await jobs.wait(job ?? 0, -1);
  assert.deepEqual(
    store.read((db) => db.all('SELECT * FROM snapshots')),
    [],
  );
});
