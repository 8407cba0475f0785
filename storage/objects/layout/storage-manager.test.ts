import assert from 'node:assert/strict';
import { mkdir, open, readdir, rename, rm, stat, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { test } from 'node:test';
import type { StagedBlob } from '../records.ts';
import { FOUR_PLUS_TWO, Rig, THREE_COPIES, TWO_COPIES } from '../testing/rig.ts';

async function wipe(rig: Rig, number: number): Promise<void> {
  const folder = rig.drives[number - 1]!.folder;
  await rm(folder, { recursive: true, force: true, maxRetries: 10, retryDelay: 5 });
  await mkdir(folder, { recursive: true });
}

/** Puts and gets in a loop until stopped; every get must be right. */
function load(rig: Rig): () => Promise<number> {
  let isOver = false;
  let gets = 0;
  const run = async (name: string): Promise<void> => {
    for (let round = 0; !isOver; round += 1) {
      await rig.put(`${name}-${round % 50}`, Buffer.from(`${name} ${round}`.repeat(50)));
      const keys = [...rig.objects.keys()];
      const key = keys[Math.floor(Math.random() * keys.length)]!;
      if (key.startsWith('load') && !key.startsWith(name)) continue;
      const body = rig.objects.get(key);
      assert.deepEqual(await rig.get(key), body, key);
      gets += 1;
    }
  };
  const runs = Promise.all(['load-a', 'load-b'].map(run));
  runs.catch(() => undefined);
  return async () => {
    isOver = true;
    await runs;
    return gets;
  };
}

for (const [policy, drives, wiped] of [
  [TWO_COPIES, 3, 1],
  [THREE_COPIES, 5, 2],
  [FOUR_PLUS_TWO, 8, 2],
] as const) {
  test(`${policy.name}: ${wiped} drives wiped under load: no read fails, all is repaired, counts return to normal`, async () => {
    const rig = await Rig.make(policy, drives);
    try {
      await rig.putMany(150);
      await rig.put('large', Buffer.alloc(3_000_000, 7));
      assert.equal(rig.counts().normal, rig.counts().total);
      const stop = load(rig);
      for (let number = 1; number <= wiped; number += 1) await wipe(rig, number);
      await rig.until(() => rig.counts().normal < rig.counts().total, 'the loss to be seen');
      const seen = rig.counts();
      await rig.until(
        () => rig.events.filter(({ kind }) => kind === 'drive-back').length >= wiped,
        'drives to be back',
      );
      await new Promise((resolve) => setTimeout(resolve, 300));
      assert.ok((await stop()) > 10);
      assert.ok(wiped < (policy.copies || 3) - 1 ? seen.critical === 0 : true);
      await rig.until(() => rig.isAtRest(), 'repair to be done');
      await rig.verifyAll();
      assert.deepEqual(rig.errors, []);
      await rig.endWell();
    } finally {
      await rig.remove();
    }
  });
}

test('a drive that leaves and returns is whole again, and what was written meanwhile is on it', async () => {
  const rig = await Rig.make(TWO_COPIES, 2);
  const { folder } = rig.drives[0]!;
  try {
    await rig.putMany(50);
    await rename(folder, `${folder}.away`);
    await rig.until(() => rig.counts().critical === 256, 'all to be critical');
    await rig.putMany(50, 'meanwhile');
    await rig.delete('key-1');
    await rename(`${folder}.away`, folder);
    await rig.until(() => rig.isAtRest(), 'repair');
    await rename(rig.drives[1]!.folder, `${rig.drives[1]!.folder}.away`);
    await rig.until(() => rig.counts().critical === 256, 'the other to be gone');
    await rig.verifyAll();
    assert.equal(rig.manager.layout().drives[0]?.number, 1);
    await rename(`${rig.drives[1]!.folder}.away`, rig.drives[1]!.folder);
    await rig.until(() => rig.isAtRest(), 'rest');
  } finally {
    await rig.remove();
  }
});

test('a drive away for too long is replaced by others and joins again when it returns', async () => {
  const rig = await Rig.make(TWO_COPIES, 4, { lostAfterMs: 300 });
  const { folder } = rig.drives[0]!;
  try {
    await rig.putMany(80);
    // A file in its place: the folder cannot be made anew.
    await rename(folder, `${folder}.away`);
    await writeFile(folder, 'not a folder');
    await rig.until(() => rig.counts().normal < 256, 'the loss');
    await rig.until(() => rig.isAtRest(), 'others to take over');
    assert.ok(!rig.manager.layout().rings[0]!.drives.includes(1));
    await rig.verifyAll();
    await rm(folder);
    await rename(`${folder}.away`, folder);
    await rig.until(() => rig.manager.layout().rings[0]!.drives.includes(1) && rig.isAtRest(), 'it to join again');
    await rig.verifyAll();
    await rig.endWell();
  } finally {
    await rig.remove();
  }
});

test('new drives join in steps of the expansion percentage, each rebalanced before the next', async () => {
  const rig = await Rig.make(TWO_COPIES, 2);
  try {
    await rig.putMany(120);
    rig.expansionPercent = 50;
    for (let count = 0; count < 4; count += 1) rig.addDrive();
    const joined: number[] = [];
    rig.manager.onLayout((layout) => {
      joined.push(new Set(layout.rings[0]!.drives).size);
    });
    await rig.follow();
    assert.equal(new Set(rig.manager.layout().rings[0]!.drives).size, 4);
    await rig.until(
      () => new Set(rig.manager.layout().rings[0]!.drives).size === 6 && rig.isAtRest(),
      'the second step',
    );
    assert.deepEqual([...new Set(joined)], [4, 6]);
    await new Promise((resolve) => setTimeout(resolve, 300));
    await rig.until(() => rig.isAtRest(), 'rest');
    const ring = rig.manager.layout().rings[0]!;
    for (let number = 1; number <= 6; number += 1) {
      const has = ring.drives.filter((drive) => drive === number).length;
      assert.ok(Math.abs(has - 512 / 6) <= 1, `drive ${number} has ${has}`);
    }
    await rig.verifyAll();
    await rig.endWell();
  } finally {
    await rig.remove();
  }
});

test('drives are evacuated before they leave, and not when too few would be left', async () => {
  const rig = await Rig.make(TWO_COPIES, 4);
  try {
    await rig.putMany(100);
    await assert.rejects(rig.manager.removeDrives('two', ['uuid-1', 'uuid-2', 'uuid-3']), /needs 2 drives/);
    await assert.rejects(rig.manager.removeDrives('two', ['nobody']), /no drive nobody/);
    const seen: number[] = [];
    await rig.manager.removeDrives('two', ['uuid-1', 'uuid-2'], (done) => seen.push(done));
    assert.equal(seen.at(-1), 1);
    for (const drive of [1, 2])
      assert.equal(rig.index.reader.db.all('SELECT * FROM segments WHERE drive = ?', drive).length, 0);
    rig.drives = rig.drives.slice(2);
    await rig.follow();
    assert.deepEqual(
      rig.manager.layout().drives.map(({ number }) => number),
      [3, 4],
    );
    await rig.verifyAll();
    await rig.endWell();
  } finally {
    await rig.remove();
  }
});

test('what was put on drives that left before it was entered is refused, or repaired from the copy that stayed', async () => {
  const rig = await Rig.make(TWO_COPIES, 4);
  try {
    const body = Buffer.alloc(3000, 'large');
    const gone = new Set([1, 2]);
    const stagedWith = async (going: number) => {
      for (;;) {
        const [blob] = await rig.stage(body);
        if (blob?.places.filter((place) => gone.has(place!.drive)).length === going) return [blob];
      }
    };
    const [onBoth, onOne, onNone] = [await stagedWith(2), await stagedWith(1), await stagedWith(0)];
    await rig.manager.removeDrives('two', ['uuid-1', 'uuid-2']);
    await assert.rejects(rig.enter('both', body, onBoth), { code: 'no-quorum' });
    const [{ partition, id, size, pieceBytes, places: moved }] = onNone as [StagedBlob];
    await rig.enter('one', body, onOne);
    await rig.enter('none', body, onNone);
    const to = { drive: 1, segment: 99, offset: 0 };
    const move = { blob: { partition, id, size }, slot: 0, from: moved[0]!, to, pieceBytes };
    assert.equal(await rig.index.commit('relocate', move), false);
    rig.drives = rig.drives.slice(2);
    await rig.follow();
    for (const number of gone) await rm(join(rig.folder, `drive-${number}`), { recursive: true });
    await rig.rested('the lost copy to be made again');
    assert.equal(await rig.get('both'), undefined);
    await rig.verifyAll();
    const places = rig.index.reader.db.all<{ drive: number }>('SELECT DISTINCT drive FROM segments WHERE live > 0');
    assert.deepEqual(
      places.map(({ drive }) => drive),
      [3, 4],
    );
    await rig.endWell();
  } finally {
    await rig.remove();
  }
});

test('a restart in the middle of a rebalance goes on with it', async () => {
  const rig = await Rig.make(TWO_COPIES, 2);
  try {
    await rig.putMany(200);
    rig.addDrive();
    rig.addDrive();
    await rig.follow();
    await rig.stop();
    assert.deepEqual(rig.errors, []);
    await rig.start();
    await rig.until(
      () => rig.isAtRest() && new Set(rig.manager.layout().rings[0]!.drives).size === 4,
      'the rest of it',
    );
    await rig.verifyAll();
    await rig.endWell();
  } finally {
    await rig.remove();
  }
});

test('sweeping gives back what is dead and keeps what lives', async () => {
  const rig = await Rig.make(TWO_COPIES, 2, { segmentGraceMs: 0 });
  try {
    await rig.putMany(200, 'key', 20_000);
    await rig.put('large', Buffer.alloc(4_000_000, 1));
    await rig.delete('large');
    const used = () => rig.manager.report().drives.reduce((sum, drive) => sum + drive.usedBytes, 0);
    const before = used();
    await rig.manager.compact();
    assert.ok(used() <= before - 8_000_000, 'the large one is gone');
    await rig.stop();
    await rig.start();
    for (let at = 0; at < 200; at += 1) if (at % 4 !== 0) await rig.delete(`key-${at}`);
    const full = used();
    const { compacted, removed } = await rig.manager.compact();
    assert.ok(compacted > 0 && removed >= compacted);
    // Segments that are written to have zeros ahead.
    await rig.stop();
    await rig.start();
    assert.ok(used() < full / 2, `${used()} of ${full}`);
    await rig.verifyAll();
    await rig.endWell();
  } finally {
    await rig.remove();
  }
});

test('a segment that was written to since it was last seen is not dropped, though it kept its length', async () => {
  let ahead = 0;
  const rig = await Rig.make(TWO_COPIES, 2, {
    segmentGraceMs: 60_000,
    compactionMs: 1e9,
    now: () => Date.now() + ahead,
  });
  try {
    const [thread] = rig.threads;
    const stage = () => thread!.writer.stage(0, Buffer.alloc(4000, 1));
    const folder = join(rig.drives[0]!.folder, 'segments');
    const lengths = async () =>
      Promise.all((await readdir(folder)).map(async (name) => (await stat(join(folder, name))).size));
    // Enough that zeros are written ahead.
    for (let count = 0; count < 40; count += 1) await stage();
    for (const { repairer } of rig.threads) repairer.busySegments = () => Promise.resolve([]);
    await rig.manager.compact();
    const before = await lengths();
    ahead += 120_000;
    await stage();
    await rig.manager.compact();
    assert.deepEqual(await lengths(), before, 'it is there, as long as it was');
    ahead += 120_000;
    await rig.manager.compact();
    assert.deepEqual(await lengths(), [], 'it was not committed');
  } finally {
    await rig.remove();
  }
});

test('what the manager puts on drives for others is theirs to commit, however long that takes, until it is closed', async () => {
  let ahead = 0;
  const rig = await Rig.make(TWO_COPIES, 2, {
    segmentGraceMs: 60_000,
    compactionMs: 1e9,
    now: () => Date.now() + ahead,
  });
  try {
    const body = Buffer.alloc(4000, 1);
    const blobs = await rig.manager.stage(0, body);
    for (let sweeps = 0; sweeps < 3; sweeps += 1) {
      await rig.manager.compact();
      ahead += 120_000;
    }
    await rig.enter('kept', body, blobs);
    await rig.verifyAll();
    const [put] = [...rig.manager.activity().values()].map((each) => each.put);
    assert.deepEqual([put?.operations, put?.bytes], [1, 4000]);
    await rig.manager.stopBackgroundWork();
    await rig.enter('late', body, await rig.manager.stage(0, body));
    await rig.verifyAll();
    await rig.manager.close();
    await assert.rejects(rig.manager.stage(0, body), { code: 'no-quorum' });
  } finally {
    await rig.remove();
  }
});

test('a segment that grew since it was last seen is not dropped, whatever the threads said then', async () => {
  let ahead = 0;
  const rig = await Rig.make(TWO_COPIES, 2, {
    segmentGraceMs: 60_000,
    compactionMs: 1e9,
    now: () => Date.now() + ahead,
  });
  try {
    const half = Buffer.alloc(2_000_000, 1);
    const { promise: gate, resolve: open } = Promise.withResolvers<null>();
    async function* body() {
      yield half;
      await gate;
      yield half;
    }
    const [thread] = rig.threads;
    const staging = thread!.writer.stage(0, body());
    const segments = () => readdir(join(rig.drives[0]!.folder, 'segments'));
    while ((await segments()).length === 0) await new Promise((resolve) => setTimeout(resolve, 10));
    // As if they had been asked before the segment was made.
    for (const { repairer } of rig.threads) repairer.busySegments = () => Promise.resolve([]);
    await rig.manager.compact();
    ahead += 120_000;
    open(null);
    await staging;
    await rig.manager.compact();
    assert.equal((await segments()).length, 1, 'it waits to be committed');
    ahead += 120_000;
    await rig.manager.compact();
    assert.equal((await segments()).length, 0, 'it was not committed');
  } finally {
    await rig.remove();
  }
});

test('scrubbing finds damage that no read met, and repairs it', async () => {
  const rig = await Rig.make(THREE_COPIES, 3);
  try {
    await rig.putMany(60);
    const folder = join(rig.drives[0]!.folder, 'segments');
    for (const name of await readdir(folder)) {
      const file = await open(join(folder, name), 'r+');
      const { size } = await file.stat();
      for (let at = 0; at < size; at += 1024) await file.write(Buffer.from([0xff, 0xee]), 0, 2, at + 100);
      await file.close();
    }
    const first = await rig.manager.scrub();
    assert.ok(first.rebuilt > 20, `${first.rebuilt} rebuilt`);
    assert.equal(first.unreadable, 0);
    await rig.until(() => rig.isAtRest(), 'rest');
    const second = await rig.manager.scrub();
    assert.equal(second.rebuilt, 0);
    await rig.verifyAll();
    await rig.endWell();
  } finally {
    await rig.remove();
  }
});

test('a policy without enough drives is known but has no ring', async () => {
  const rig = await Rig.make(THREE_COPIES, 2);
  try {
    assert.deepEqual(rig.manager.layout().rings, []);
    assert.equal(rig.manager.report().policies[0]?.partitions.total, 0);
    await assert.rejects(rig.put('key', Buffer.from('body')));
    rig.addDrive();
    await rig.follow();
    await rig.put('key', Buffer.from('body'));
    await assert.rejects(
      rig.manager.follow({ drives: rig.drives, policies: [{ ...THREE_COPIES, copies: 2 }] }),
      /cannot change/,
    );
  } finally {
    await rig.remove();
  }
});

test('a folder that is gone for good is made anew under a new number', async () => {
  const rig = await Rig.make(TWO_COPIES, 2, { lostAfterMs: 200 });
  try {
    await rig.putMany(30);
    await rm(rig.drives[1]!.folder, { recursive: true, maxRetries: 10, retryDelay: 5 });
    await rig.until(() => rig.counts().critical === 256, 'the loss');
    await rig.until(() => rig.isAtRest(), 'repair');
    assert.deepEqual(
      rig.manager.layout().drives.map(({ number }) => number),
      [1, 3],
    );
    await rig.verifyAll();
    await rig.endWell();
  } finally {
    await rig.remove();
  }
});

test('drives whose folders were empty for a while, as of disks that were not mounted, are back with all they hold', async () => {
  const rig = await Rig.make(TWO_COPIES, 2);
  try {
    await rig.putMany(40);
    const numbers = () => rig.manager.layout().drives.map(({ number }) => number);
    for (const { folder } of rig.drives) {
      await rename(folder, `${folder}.away`);
      await mkdir(folder);
    }
    await rig.until(() => !numbers().includes(1) && !numbers().includes(2), 'new numbers');
    for (const { folder } of rig.drives) {
      await rename(folder, `${folder}.empty`);
      await rename(`${folder}.away`, folder);
    }
    await rig.until(() => numbers().includes(1) && numbers().includes(2) && rig.isAtRest(), 'the old numbers');
    await rig.verifyAll();
    await rig.endWell();
  } finally {
    await rig.remove();
  }
});

test('a drive that a thread could not use is away until it shows that it works', async () => {
  let skewMs = 0;
  const rig = await Rig.make(TWO_COPIES, 3, { now: () => Date.now() + skewMs });
  try {
    rig.manager.driveFailed(2, 'an I/O error');
    await rig.until(() => rig.manager.layout().drives[1]?.state === 'absent', 'it to be away');
    await rig.putMany(30);
    assert.deepEqual(rig.events.at(-1), { kind: 'drive-absent', uuid: 'uuid-2', reason: 'an I/O error' });
    skewMs = 6000;
    await rig.until(() => rig.manager.layout().drives[1]?.state === 'normal' && rig.isAtRest(), 'it to be back');
    await rig.verifyAll();
    await rig.endWell();
  } finally {
    await rig.remove();
  }
});

test('a drive that holds segments without an identity is not written over', async () => {
  const rig = await Rig.make(TWO_COPIES, 2);
  try {
    await rig.putMany(10);
    const identity = join(rig.drives[0]!.folder, 'drive.json');
    await rename(identity, `${rig.folder}/kept`);
    await rig.until(() => rig.manager.report().drives[0]?.state === 'absent', 'it to be away');
    await new Promise((resolve) => setTimeout(resolve, 200));
    await rename(`${rig.folder}/kept`, identity);
    await rig.until(() => rig.isAtRest(), 'it to be back');
    assert.equal(rig.manager.report().drives[0]?.number, 1);
    await rig.endWell();
  } finally {
    await rig.remove();
  }
});

test('drives that are not wanted any more leave by themselves', async () => {
  const rig = await Rig.make(TWO_COPIES, 4);
  try {
    await rig.putMany(60);
    rig.drives = rig.drives.slice(1);
    await rig.follow();
    assert.equal(rig.manager.layout().drives[0]?.state, 'leaving');
    await rig.until(() => rig.manager.layout().drives.length === 3 && rig.isAtRest(), 'it to leave');
    assert.ok(rig.events.some(({ kind }) => kind === 'drive-left'));
    await rig.verifyAll();
    await rig.endWell();
  } finally {
    await rig.remove();
  }
});

test('damage that a read finds is repaired without a request', async () => {
  const rig = await Rig.make(TWO_COPIES, 2);
  try {
    await rig.put('key', Buffer.alloc(5000, 1));
    const folder = join(rig.drives[0]!.folder, 'segments');
    for (const name of await readdir(folder)) {
      const file = await open(join(folder, name), 'r+');
      await file.write(Buffer.from('damage'), 0, 6, 500);
      await file.close();
    }
    for (let reads = 0; reads < 20; reads += 1) {
      assert.deepEqual(await rig.get('key'), Buffer.alloc(5000, 1));
    }
    const { partition } = rig.index.reader.db.get<{ partition: number }>('SELECT partition FROM blobs')!;
    rig.manager.onDamage(partition);
    await rig.until(() => rig.events.some(({ kind }) => kind === 'repaired'), 'repair');
    await rig.endWell();
  } finally {
    await rig.remove();
  }
});

test('scrubbing goes round by itself and remembers where it was', async () => {
  const rig = await Rig.make(TWO_COPIES, 2, { scrubPeriodMs: 256 * 10 });
  const cursor = () =>
    rig.index.reader.db.get<{ value: number }>("SELECT value FROM keeper WHERE name = 'scrub-cursor'")?.value ?? 0;
  try {
    await rig.putMany(10);
    await rig.until(() => cursor() > 3, 'some partitions');
    await rig.stop();
    await rig.start();
    assert.ok(cursor() > 3);
    await rig.until(() => cursor() > 6, 'more partitions');
  } finally {
    await rig.remove();
  }
});
