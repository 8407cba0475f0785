import assert from 'node:assert/strict';
import { rename } from 'node:fs/promises';
import { test } from 'node:test';
import { bytesFrom } from '../../kernels/testing/buffers.ts';
import { BlobScene, copies } from '../blobs/testing/blob-scene.ts';

test('drives are open as long as the layout has them and they are not absent', async () => {
  const scene = await BlobScene.open({ policy: copies(3) });
  try {
    const { drives, layout } = scene;
    // They are opened at the same time, and come in any order.
    assert.deepEqual([...drives.activity().keys()].sort(), [1, 2, 3]);
    const one = drives.get(1);
    await drives.update({
      ...layout,
      drives: layout.drives.slice(0, 2).map((drive) => (drive.number === 2 ? { ...drive, state: 'absent' } : drive)),
    });
    assert.deepEqual([...drives.activity().keys()], [1]);
    assert.equal(drives.get(1), one);
    assert.equal(drives.get(2), undefined);
    assert.equal(drives.isHealthy(3), false);
    await drives.update(layout);
    assert.deepEqual(
      [1, 2, 3].map((number) => drives.isHealthy(number)),
      [true, true, true],
    );
    assert.equal(scene.failures.length, 0);
  } finally {
    await scene.close();
  }
});

test('an open drive takes a changed capacity and the shared counter of used bytes over', async () => {
  const scene = await BlobScene.open({ policy: copies(1) });
  try {
    const usedBytes = new BigInt64Array(new SharedArrayBuffer(8)).fill(90_000n);
    const drives = scene.layout.drives.map((drive) => ({ ...drive, capacity: 100_000, usedBytes }));
    await scene.drives.update({ ...scene.layout, drives });
    await assert.rejects(scene.stage(bytesFrom(1, 20_000)), { code: 'no-space' });
    await scene.stage(bytesFrom(1, 5000));
    assert.ok(usedBytes[0]! > 95_000n);
  } finally {
    await scene.close();
  }
});

test('a drive that cannot be opened is reported, and opened with the next layout', async () => {
  const scene = await BlobScene.open({ policy: copies(2) });
  try {
    const { drives, layout } = scene;
    await drives.update({ ...layout, drives: [] });
    await rename(scene.folderOf(1), `${scene.folderOf(1)}-away`);
    await drives.update(layout);
    assert.deepEqual(
      scene.failures.map(({ drive }) => drive),
      [1],
    );
    assert.equal(drives.get(1), undefined);
    const record = await scene.stage(bytesFrom(1, 100));
    assert.equal(record.places.filter((place) => place !== null).length, 1);
    await rename(`${scene.folderOf(1)}-away`, scene.folderOf(1));
    await drives.update(layout);
    assert.ok(drives.get(1));
  } finally {
    await scene.close();
  }
});

test('what is not open counts nothing, and what is counts what was really done', async () => {
  const scene = await BlobScene.open({ policy: copies(2) });
  try {
    const record = await scene.stage(bytesFrom(1, 5000));
    await scene.reader.readWhole(record, scene.policy);
    const totals = [...scene.drives.activity().values()];
    assert.deepEqual(
      totals.map(({ put }) => [put.operations, put.bytes]),
      [
        [1, 5000],
        [1, 5000],
      ],
    );
    assert.equal(
      totals.reduce((sum, { get }) => sum + get.bytes, 0),
      5000,
    );
    assert.ok(totals.every(({ put }) => put.milliseconds > 0));
  } finally {
    await scene.close();
  }
});
