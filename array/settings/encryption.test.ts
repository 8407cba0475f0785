import assert from 'node:assert/strict';
import { test } from 'node:test';
import { volumesAlone, wantedVolume } from '../volumes/testing/volumes-alone.ts';

const dana = { actor: 'dana', ip: '127.0.0.1' };
const encrypted = { encrypted: true };

test('no encrypted volume can be made before a password is set', async (t) => {
  const { array } = await volumesAlone(t);
  assert.deepEqual([array.encryption.isPasswordSet, array.encryption.isActive], [false, false]);
  await assert.rejects(array.volumes.create(wantedVolume('secret', encrypted), 'dana'), { entry: 'volume_locked' });
  await assert.rejects(array.encryption.restore('correct horse', dana), { entry: 'state_conflict' });
});

test('after a restart encrypted volumes are locked until the password is given; every one gets its own key back', async (t) => {
  const world = await volumesAlone(t);
  const { engine } = world;
  await world.array.encryption.setPassword('correct horse', undefined, dana);
  const [one, two] = await Promise.all([
    world.array.volumes.create(wantedVolume('one', encrypted), 'dana'),
    world.array.volumes.create(wantedVolume('two', encrypted), 'dana'),
  ]);
  const keys = new Map([...engine.keys].map(([id, key]) => [id, Buffer.from(key).toString('hex')]));
  assert.equal(new Set(keys.values()).size, 2);
  const { encryption, volumes, store } = await world.restart();
  assert.deepEqual([encryption.isPasswordSet, encryption.isActive], [true, false]);
  assert.equal((await volumes.show(one.name)).status, 'Locked');
  await assert.rejects(volumes.create(wantedVolume('three', encrypted), 'dana'), { entry: 'volume_locked' });
  await assert.rejects(encryption.restore('incorrect horse', dana), /encryption_pwd is not the encryption password/);
  await encryption.restore('correct horse', dana);
  assert.equal((await volumes.show(two.name)).status, 'Available');
  const again = new Map([...engine.keys].map(([id, key]) => [id, Buffer.from(key).toString('hex')]));
  assert.deepEqual(again, keys);
  const rows = JSON.stringify(store.read((db) => [db.all('SELECT * FROM settings'), db.all('SELECT * FROM events')]));
  assert.ok(!rows.includes('correct horse'), 'the password is kept nowhere');
});

test('a change of password needs the old one and rewraps every key, those of volumes made at that moment too', async (t) => {
  const world = await volumesAlone(t);
  const { encryption, volumes } = world.array;
  await encryption.setPassword('correct horse', undefined, dana);
  await volumes.create(wantedVolume('before', encrypted), 'dana');
  await assert.rejects(encryption.setPassword('battery staple', undefined, dana), /old_encryption_pwd must be sent/);
  await assert.rejects(encryption.setPassword('battery staple', 'wrong one', dana), { entry: 'bad_parameter' });
  const making = Array.from({ length: 20 }, (_, each) => volumes.create(wantedVolume(`v${each}`, encrypted), 'dana'));
  await Promise.all([encryption.setPassword('battery staple', 'correct horse', dana), ...making]);
  const keys = new Map(world.engine.keys);
  const after = await world.restart();
  await assert.rejects(after.encryption.restore('correct horse', dana), { entry: 'bad_parameter' });
  await after.encryption.restore('battery staple', dana);
  assert.equal(world.engine.keys.size, 21);
  for (const [id, key] of keys) assert.deepEqual(Buffer.from(world.engine.keys.get(id)!), Buffer.from(key));
});

test('a changed password given as the old one after a restart restores too', async (t) => {
  const world = await volumesAlone(t);
  await world.array.encryption.setPassword('correct horse', undefined, dana);
  const { name } = await world.array.volumes.create(wantedVolume('data', encrypted), 'dana');
  const { encryption, volumes } = await world.restart();
  await encryption.setPassword('battery staple', 'correct horse', dana);
  assert.equal(encryption.isActive, true);
  assert.equal((await volumes.show(name)).status, 'Available');
});

test('guesses are counted: after ten the door is shut, for the right password too, but only there', async (t) => {
  const { array } = await volumesAlone(t);
  await array.encryption.setPassword('correct horse', undefined, dana);
  const guesser = { actor: 'eve', ip: '127.0.0.2' };
  const guesses = await Promise.allSettled(
    Array.from({ length: 11 }, () => array.encryption.restore('wrong one', guesser)),
  );
  const entries = guesses.map((guess) =>
    guess.status === 'rejected' ? (guess.reason as { entry: string }).entry : '',
  );
  assert.equal(entries.filter((entry) => entry === 'bad_parameter').length, 10);
  assert.equal(entries.at(-1), 'too_many_attempts');
  await assert.rejects(array.encryption.restore('correct horse', guesser), { entry: 'too_many_attempts' });
  await array.encryption.restore('correct horse', dana);
});
