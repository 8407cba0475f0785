import assert from 'node:assert/strict';
import { randomBytes } from 'node:crypto';
import { cp, mkdir, open, readdir, rename, rm, stat, truncate } from 'node:fs/promises';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { after, before, test } from 'node:test';
import { rounds } from '../../testing/effort.ts';
import type { WantedPolicy } from './layout/manager-types.ts';
import { FOUR_PLUS_TWO, Rig, THREE_COPIES, TWO_COPIES } from './testing/rig.ts';

/**
 * Goal: whatever becomes of one drive, or of the index, no read returns wrong bytes.
 *
 * Method: an array at rest gets two generations of objects, the second over some of the first. Then one region is damaged
 * in one way, and a read, a scrub, a repair or a restart comes first. One damaged drive must not cost anything: every
 * object reads as it was put, at once and after a restart. A damaged index may cost the start (it is refused) or an object
 * (an error, or it is not found), but must not show the bytes of another object or of before.
 */

/** Every nth case is tried; n is coprime to the numbers of damages and moments, so that a slice covers all of both. */
const CASES_PER_TRY = rounds({ quick: 11, long: 11, torture: 1 });
const PAGES_PER_TRY = rounds({ quick: 8, long: 8, torture: 1 });
const PAGE = 4096;

type Damage = 'zeroed' | 'foreign' | 'rolled back' | 'emptied' | 'removed';
type Extent = 'whole' | 'parts';
type Moment = 'read' | 'scrub' | 'repair' | 'restart';

interface Case {
  readonly policy: WantedPolicy;
  readonly region: 'segments' | 'identity' | 'drive';
  readonly damage: Damage;
  readonly extent: Extent;
  readonly moment: Moment;
}

const POLICIES = [TWO_COPIES, THREE_COPIES, FOUR_PLUS_TWO];
const DAMAGES: readonly Damage[] = ['zeroed', 'foreign', 'rolled back', 'emptied', 'removed'];
const MOMENTS: readonly Moment[] = ['read', 'scrub', 'repair', 'restart'];

function* cases(): Generator<Case> {
  for (const policy of POLICIES) {
    for (const moment of MOMENTS) {
      for (const damage of DAMAGES) {
        yield { policy, region: 'segments', damage, extent: 'whole', moment };
        if (damage !== 'removed') yield { policy, region: 'segments', damage, extent: 'parts', moment };
        yield { policy, region: 'identity', damage, extent: 'whole', moment };
      }
      for (const damage of ['foreign', 'rolled back', 'emptied', 'removed'] as const) {
        yield { policy, region: 'drive', damage, extent: 'whole', moment };
      }
    }
  }
}

function chosen(): Case[] {
  return [...cases()].filter((_, index) => index % CASES_PER_TRY === 4 % CASES_PER_TRY);
}

const ends: Rig[] = [];
after(async () => {
  for (const rig of ends) await rig.remove();
});

/** An array, and its state after the first generation of objects in `earlier`. */
async function arrayWithPast(policy: WantedPolicy): Promise<{ rig: Rig; earlier: string }> {
  const drives = policy === FOUR_PLUS_TWO ? 7 : 4;
  const rig = await Rig.make(policy, drives, { segmentGraceMs: 0 });
  ends.push(rig);
  await rig.rested('all drives are there');
  await rig.putMany(24, 'kept', 3000);
  await rig.putMany(12, 'changed', 3000);
  await rig.put('large', randomBytes(2_500_000));
  await rig.stop();
  const earlier = join(rig.folder, 'earlier');
  for (const { folder } of rig.drives) await cp(folder, join(earlier, folder), { recursive: true });
  await cp(rig.indexFile, join(earlier, 'index.db'));
  await rig.start();
  await rig.putMany(12, 'changed', 3000);
  await rig.putMany(24, 'later', 3000);
  await rig.put('large', randomBytes(2_500_000));
  await rig.rested('the second generation is on the drives');
  return { rig, earlier };
}

async function overwrite(file: string, positions: readonly number[], bytes: (at: number) => Buffer): Promise<void> {
  const handle = await open(file, 'r+');
  try {
    for (const at of positions) await handle.write(bytes(at), 0, undefined, at);
  } finally {
    await handle.close();
  }
}

/** Every second page, or all. */
function pagesOf(size: number, extent: Extent): number[] {
  const all = Array.from({ length: Math.ceil(size / PAGE) }, (_, page) => page * PAGE);
  return extent === 'whole' ? all : all.filter((_, page) => page % 2 === 1 || all.length === 1);
}

async function bytesAt(file: string, at: number, length: number): Promise<Buffer> {
  const bytes = Buffer.alloc(length);
  const handle = await open(file, 'r').catch(() => undefined);
  await handle?.read(bytes, 0, length, at);
  await handle?.close();
  return bytes;
}

/** Damages a file; where it needs other bytes, those of `other` (of another drive, or of before). */
async function damageFile(file: string, damage: Damage, extent: Extent, other: string): Promise<void> {
  if (damage === 'removed') return rm(file);
  const { size } = await stat(file);
  if (damage === 'emptied') return truncate(file, extent === 'whole' ? 0 : Math.floor(size / 2));
  const length = (at: number) => Math.min(PAGE, size - at);
  const contents = new Map<number, Buffer>();
  const pages = pagesOf(size, extent);
  for (const at of pages) {
    contents.set(at, damage === 'zeroed' ? Buffer.alloc(length(at)) : await bytesAt(other, at, length(at)));
  }
  await overwrite(file, pages, (at) => contents.get(at) ?? Buffer.alloc(0));
}

async function damageDrive(rig: Rig, earlier: string, { region, damage, extent }: Case): Promise<void> {
  const [{ folder }, neighbour] = [rig.drives[0]!, rig.drives[1]!.folder];
  const source = damage === 'foreign' ? neighbour : join(earlier, folder);
  if (region === 'drive') {
    const instead = join(rig.folder, 'instead');
    if (damage === 'emptied') await mkdir(instead);
    if (damage === 'foreign' || damage === 'rolled back') await cp(source, instead, { recursive: true });
    await rename(folder, join(rig.folder, 'away'));
    if (damage !== 'removed') await rename(instead, folder);
    return;
  }
  if (region === 'identity') return damageFile(join(folder, 'drive.json'), damage, extent, join(source, 'drive.json'));
  const others = await readdir(join(source, 'segments'));
  for (const [index, name] of (await readdir(join(folder, 'segments'))).entries()) {
    const other = join(source, 'segments', others.includes(name) ? name : (others[index % others.length] ?? name));
    await damageFile(join(folder, 'segments', name), damage, extent, other);
  }
}

type Outcome = 'right' | 'wrong' | 'missing' | 'error';

async function read(rig: Rig, key: string, body: Buffer): Promise<Outcome> {
  const thread = rig.threads[0]!;
  try {
    const version = thread.reader.version(rig.bucket, key);
    if (!version) return 'missing';
    if (version.content.kind !== 'blob') return body.length === 0 ? 'right' : 'wrong';
    const record = thread.reader.blob(version.content.blob.partition, version.content.blob.id);
    if (!record) return 'error';
    const found = await thread.blobs.readWhole(record, rig.manager.layout().rings[0]!.policy);
    return body.equals(found) ? 'right' : 'wrong';
  } catch {
    return 'error';
  }
}

async function outcomes(rig: Rig): Promise<Record<Outcome, string[]>> {
  const found: Record<Outcome, string[]> = { right: [], wrong: [], missing: [], error: [] };
  for (const [key, body] of rig.objects) found[await read(rig, key, body)].push(key);
  return found;
}

async function assertAllRight(rig: Rig, when: string): Promise<void> {
  const { wrong, missing, error } = await outcomes(rig);
  assert.deepEqual({ wrong, missing, error }, { wrong: [], missing: [], error: [] }, when);
}

async function passMoment(rig: Rig, moment: Moment): Promise<void> {
  if (moment === 'restart') {
    await rig.stop();
    await rig.start();
  }
  if (moment === 'scrub') await rig.manager.scrub();
  if (moment === 'repair') await rig.follow();
}

for (const each of chosen()) {
  const { policy, region, damage, extent, moment } = each;
  test(`${policy.name}: ${region} ${damage} (${extent}), then a ${moment}: every object is right`, async () => {
    const { rig, earlier } = await arrayWithPast(policy);
    await damageDrive(rig, earlier, each);
    await passMoment(rig, moment);
    await assertAllRight(rig, `after the ${moment}`);
    await rig.manager.scrub();
    await assertAllRight(rig, 'after a scrub');
    await rig.stop();
    await rig.start();
    await assertAllRight(rig, 'after a restart');
    await rig.remove();
  });
}

let foreignIndex: string;
before(async () => {
  const { rig } = await arrayWithPast(TWO_COPIES);
  await rig.stop();
  foreignIndex = rig.indexFile;
});

for (const [damage, extent] of [
  ['zeroed', 'whole'],
  ['zeroed', 'parts'],
  ['foreign', 'whole'],
  ['foreign', 'parts'],
  ['rolled back', 'whole'],
  ['rolled back', 'parts'],
  ['emptied', 'whole'],
  ['emptied', 'parts'],
  ['removed', 'whole'],
] as const) {
  test(`the index ${damage} (${extent}): the start is refused, or nothing wrong is read`, async (t) => {
    const { rig, earlier } = await arrayWithPast(TWO_COPIES);
    await rig.stop();
    const before = await readdir(join(rig.drives[0]!.folder, 'segments'));
    const other = damage === 'foreign' ? foreignIndex : join(earlier, 'index.db');
    if (extent === 'whole' && (damage === 'foreign' || damage === 'rolled back')) await cp(other, rig.indexFile);
    else await damageFile(rig.indexFile, damage, extent, other);
    const refusal = await rig.start().then(
      () => undefined,
      (error: unknown) => error as Error,
    );
    t.diagnostic(refusal === undefined ? 'started' : `refused: ${refusal.message}`);
    if (refusal === undefined) {
      const { wrong, missing, error } = await outcomes(rig);
      t.diagnostic(`${missing.length} missing, ${error.length} errors`);
      assert.deepEqual(wrong, []);
      assert.equal(extent, 'parts', 'it started with an index that is not its own');
    }
    await rig.stop().catch(() => undefined);
    const left = await readdir(join(rig.drives[0]!.folder, 'segments'));
    assert.deepEqual(
      before.filter((name) => !left.includes(name)),
      [],
      'no segment was removed',
    );
  });
}

test('single pages of the index, zeroed, foreign or rolled back: nothing wrong is read', async (t) => {
  const { rig, earlier } = await arrayWithPast(TWO_COPIES);
  await rig.stop();
  const sound = join(rig.folder, 'sound.db');
  await cp(rig.indexFile, sound);
  const pages = pagesOf((await stat(sound)).size, 'whole');
  const tally: Record<string, number> = {};
  for (const [damage, other] of [
    ['zeroed', undefined],
    ['foreign', foreignIndex],
    ['rolled back', join(earlier, 'index.db')],
  ] as const) {
    for (const at of pages.filter((_, page) => page % PAGES_PER_TRY === 3 % PAGES_PER_TRY)) {
      await cp(sound, rig.indexFile);
      const bytes = other === undefined ? Buffer.alloc(PAGE) : await bytesAt(other, at, PAGE);
      await overwrite(rig.indexFile, [at], () => bytes);
      const isRefused = await rig.start().then(
        () => false,
        () => true,
      );
      if (!isRefused) assert.deepEqual((await outcomes(rig)).wrong, [], `${damage} at ${at}`);
      const name = `${damage}: ${isRefused ? 'refused' : 'started'}`;
      tally[name] = (tally[name] ?? 0) + 1;
      await rig.stop().catch(() => undefined);
      // Its drives are those of the sound index again.
      for (const { folder } of rig.drives) await rm(join(folder, 'index.stamp'), { force: true });
    }
  }
  t.diagnostic(`${pages.length} pages; ${JSON.stringify(tally)}`);
});

test('an older index is used once an administrator accepts it, and new segments stand beside those it does not know', async () => {
  const { rig, earlier } = await arrayWithPast(TWO_COPIES);
  await rig.stop();
  await cp(join(earlier, 'index.db'), rig.indexFile);
  await assert.rejects(rig.start(), /not the newest one of these drives.*index\.db\.accept/);
  await rig.stop();
  const accepting = await Rig.open(rig.folder, TWO_COPIES, 4, { acceptsAnyIndex: true });
  await accepting.rested('all drives are there');
  await accepting.putMany(12, 'fresh');
  await accepting.verifyAll();
  await accepting.stop();
  const again = await Rig.open(rig.folder, TWO_COPIES, 4);
  await again.rested('its drives have its stamps now');
  await again.stop();
});

test('a stray segment of the number a drive had before it was emptied does not prevent a start', async () => {
  const { rig } = await arrayWithPast(TWO_COPIES);
  await rig.stop();
  const { folder } = rig.drives[0]!;
  await cp(
    join(folder, 'segments', (await readdir(join(folder, 'segments')))[0]!),
    join(folder, 'segments', '9999.segment'),
  );
  await rm(join(folder, 'index.stamp'));
  await rig.start();
  await assertAllRight(rig, 'with a stray segment');
  await rig.stop();
});

test('an array that never had stamps gets them, unless its index is too old to be right', async () => {
  const { rig, earlier } = await arrayWithPast(TWO_COPIES);
  await rig.stop();
  for (const { folder } of rig.drives) await rm(join(folder, 'index.stamp'));
  await rig.start();
  await assertAllRight(rig, 'without stamps');
  await rig.stop();
  for (const { folder } of rig.drives) await rm(join(folder, 'index.stamp'));
  await cp(join(earlier, 'index.db'), rig.indexFile);
  const db = new DatabaseSync(rig.indexFile);
  db.exec("DELETE FROM keeper WHERE name IN ('index', 'stamp')");
  db.close();
  await assert.rejects(rig.start(), /has a segment \d+ that it does not know/);
  await rig.stop();
});
