import assert from 'node:assert/strict';
import { test } from 'node:test';
import { until } from '../../testing/waiting.ts';
import { EngineError } from '../engine/errors.ts';
import { findAnyVolume } from '../volumes/repository.ts';
import { volumesAlone, wantedVolume } from '../volumes/testing/volumes-alone.ts';
import { defaultOptions, type ShareOptions } from './options.ts';
import { findShare, updateShareOptions } from './repository.ts';

const wantedShare = (name: string, changes = {}) =>
  wantedVolume(name, { share: { options: defaultOptions, ...changes } });

test('a share is made with a filesystem and served under its name; a block volume is not a share', async (t) => {
  const { array, engine } = await volumesAlone(t);
  const { name } = await array.volumes.create(wantedShare('reports'), 'dana');
  assert.ok(engine.formatted.has(name));
  assert.deepEqual(engine.shares.get(name), {
    volume: name,
    exportNames: ['reports'],
    clients: [],
    sync: true,
    updatesAccessTimes: false,
    squash: 'none',
    anonymousUid: 65534,
    anonymousGid: 65534,
    readAheadBytes: 16 * 1024,
    isAudited: false,
    snapshots: [],
  });
  assert.equal(array.volumes.getShare(name).state, 'ready');
  const block = await array.volumes.create(wantedVolume('disk'), 'dana');
  assert.throws(() => array.volumes.getShare(block.name), /is a block volume; this is for file shares/);
});

test('every option comes back from its row as it was written', async (t) => {
  const { array } = await volumesAlone(t);
  const { name } = await array.volumes.create(wantedShare('reports'), 'dana');
  const read = () => array.store.read((db) => findShare(db, name)?.options);
  assert.deepEqual(read(), defaultOptions);
  const others: ShareOptions = {
    syncsWrites: false,
    updatesAccessTimes: true,
    readAheadKb: 512,
    squashesRoot: true,
    squashesAll: true,
    anonymousUid: 4_294_967_295,
    anonymousGid: 100,
    isAudited: true,
    isSmbOnly: true,
    admitsGuests: true,
    keepsWindowsAcls: true,
    isBrowseable: false,
    hidesUnreadable: true,
    hidesUnwriteable: true,
    hidesDotFiles: true,
    keepsDosAttributes: true,
    mapsArchive: true,
    grantsOplocks: false,
    fileCreateMask: '0700',
    directoryCreateMask: '0711',
    hiddenFiles: '/*.tmp/',
    smbEncryption: 'required',
    mangledNames: 'ILLEGAL',
    caseSensitive: 'NO',
  };
  await array.store.write((tx) => updateShareOptions(tx, name, others));
  assert.deepEqual(read(), others);
});

test('a share that a crash cut off while it was made goes at the next start, and its names are free', async (t) => {
  const world = await volumesAlone(t);
  const crash = new EngineError('interrupted', 'The controller is gone.');
  for (const method of ['formatShare', 'removeShare']) world.engine.failures.set(method, crash);
  await assert.rejects(world.array.volumes.create(wantedShare('reports'), 'dana'), /controller is gone/);
  const [left] = [...world.engine.volumes.keys()];
  assert.equal(world.array.store.read((db) => findAnyVolume(db, left ?? ''))?.state, 'creating');
  const { volumes } = await world.restart();
  assert.equal(world.engine.volumes.size, 0);
  await volumes.create(wantedShare('reports'), 'dana');
});

test('a share whose filesystem cannot be made leaves nothing behind', async (t) => {
  const { array, engine } = await volumesAlone(t);
  engine.failures.set('formatShare', new EngineError('full', 'The pool is full.'));
  await assert.rejects(array.volumes.create(wantedShare('reports'), 'dana'), /pool is full/);
  assert.equal(engine.volumes.size, 0);
  assert.equal(array.volumes.list({}, { start: 0, limit: 0 }).count, 0);
  await array.volumes.create(wantedShare('reports'), 'dana');
});

test('shares are served again after a restart, each as it is on record', async (t) => {
  const world = await volumesAlone(t);
  const { name } = await world.array.volumes.create(wantedShare('reports'), 'dana');
  await world.array.volumes.changeExport(name, 'add', 'figures', 'dana');
  await world.restart();
  assert.deepEqual(world.engine.shares.get(name)?.exportNames, ['reports', 'figures']);
});

test('what the engine does not take at first it is sent again', async (t) => {
  const { array, engine } = await volumesAlone(t);
  const { name } = await array.volumes.create(wantedShare('reports'), 'dana');
  engine.failures.set('putShare', new EngineError('failed', 'A drive hangs.'));
  await assert.rejects(
    array.volumes.changeExport(name, 'rename', 'figures', 'dana'),
    /on record, but .* A drive hangs/,
  );
  assert.deepEqual(engine.shares.get(name)?.exportNames, ['reports']);
  await array.shares.catchUp();
  assert.deepEqual(engine.shares.get(name)?.exportNames, ['figures']);
  await until(() => array.titles(name).some((title) => /is served as it should be again/.test(title)));
  assert.ok(array.titles(name).some((title) => /is not served as it should be: A drive hangs\.$/.test(title)));
});

test('a share that cannot be served is left alone for longer and longer', async (t) => {
  const { array, engine } = await volumesAlone(t);
  const { name } = await array.volumes.create(wantedShare('reports'), 'dana');
  let tries = 0;
  engine.putShare = () => {
    tries += 1;
    return Promise.reject(new EngineError('invalid', 'Its filesystem is damaged.'));
  };
  await array.shares.attempt(name);
  for (let look = 0; look < 100; look += 1) await array.shares.catchUp();
  assert.equal(tries, 1 + 6, 'at the looks 1, 3, 7, 15, 31 and 63');
});
