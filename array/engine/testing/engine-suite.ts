import assert from 'node:assert/strict';
import { test, type TestContext } from 'node:test';
import type { Engine } from '../engine.ts';
import { isEngineError, type EngineErrorCode } from '../errors.ts';

const BLOCK = 4096;
const MIB = 1024 * 1024;

/** A running engine with nothing in it, and how a pool is made there: that differs from engine to engine. */
export interface EngineUnderTest {
  readonly engine: Engine;
  readonly makePool: (id: string, capacityBytes: number) => Promise<void>;
}

type Open = (t: TestContext) => Promise<EngineUnderTest>;

/** What every engine has to do. A new engine passes all of it before an array runs on it. */
export function testEngine(name: string, open: Open): void {
  const story = (title: string, run: (it: Story) => Promise<void>): void => {
    test(`${name}: ${title}`, async (t) => run(await Story.begin(t, open)));
  };
  testVolumes(story);
  testSnapshots(story);
  testCopies(story);
  testShares(story);
}

type DefineStory = (title: string, run: (it: Story) => Promise<void>) => void;

class Story {
  readonly engine: Engine;
  readonly makePool: EngineUnderTest['makePool'];

  static async begin(t: TestContext, open: Open): Promise<Story> {
    const story = new Story(await open(t));
    for (const pool of ['p', 'q']) await story.makePool(pool, 64 * MIB);
    await story.volume('v');
    return story;
  }

  private constructor({ engine, makePool }: EngineUnderTest) {
    this.engine = engine;
    this.makePool = makePool;
  }

  volume(id: string, pool = 'p', sizeBytes = 16 * MIB): Promise<void> {
    return this.engine.createVolume({ id, pool, sizeBytes, compression: false, deduplication: false });
  }

  write(letter: string, block: number, volume = 'v'): Promise<void> {
    return this.engine.writeVolume(volume, block * BLOCK, Buffer.alloc(BLOCK, letter));
  }

  snapshot(id: string, volume = 'v'): Promise<readonly number[]> {
    return this.engine.takeSnapshots([{ volume, snapshot: id }], 1_700_000_000_000);
  }

  /** The letter at the beginning of each of these blocks; a dot where there is none. */
  async letters(snapshot: string, blocks: readonly number[]): Promise<string> {
    const found = await Promise.all(blocks.map((block) => this.engine.readSnapshot(snapshot, block * BLOCK, BLOCK)));
    return found.map(([first = 0]) => (first === 0 ? '.' : String.fromCharCode(first))).join('');
  }

  /** What the volume holds now, by a snapshot that goes again. */
  async content(blocks: readonly number[], volume = 'v'): Promise<string> {
    await this.snapshot(`look-at-${volume}`, volume);
    const letters = await this.letters(`look-at-${volume}`, blocks);
    await this.engine.deleteSnapshot(`look-at-${volume}`);
    return letters;
  }

  async refused(work: Promise<unknown>, ...codes: EngineErrorCode[]): Promise<void> {
    await assert.rejects(work, (error) => isEngineError(error, ...codes));
  }
}

function testVolumes(story: DefineStory): void {
  story('a volume holds what was written and discarded, and zeros elsewhere', async (it) => {
    await it.write('a', 0);
    await it.write('b', 17);
    await it.engine.flushVolume('v');
    assert.equal(await it.content([0, 1, 17]), 'a.b');
    await it.engine.discardVolume('v', 0, BLOCK);
    assert.equal(await it.content([0, 17]), '.b');
  });

  story('what is made twice is there once, and what is deleted twice is gone', async (it) => {
    await it.write('a', 0);
    await it.volume('v');
    assert.equal(await it.content([0]), 'a');
    await it.makePool('p', 64 * MIB);
    for (let time = 0; time < 2; time += 1) await it.engine.deleteVolume('v');
    for (let time = 0; time < 2; time += 1) await it.engine.deletePool('q');
    const { volumes, pools } = await it.engine.report(0);
    assert.deepEqual([volumes.map(({ id }) => id), pools.map(({ id }) => id)], [[], ['p']]);
  });

  story('what is not there is not found, and a pool with volumes is not deleted', async (it) => {
    await it.refused(it.engine.volume('nothing'), 'not-found');
    await it.refused(it.volume('w', 'nowhere'), 'not-found');
    await it.refused(it.engine.writeVolume('nothing', 0, Buffer.alloc(BLOCK)), 'not-found');
    await it.refused(it.engine.readSnapshot('nothing', 0, BLOCK), 'not-found');
    await it.refused(it.engine.deletePool('p'), 'conflict');
    await it.refused(it.engine.writeVolume('v', 16 * MIB, Buffer.alloc(BLOCK)), 'invalid');
  });

  story('an expanded volume keeps its bytes and has zeros behind them', async (it) => {
    await it.write('a', 4095);
    for (let time = 0; time < 2; time += 1) await it.engine.expandVolume('v', 32 * MIB);
    assert.equal((await it.engine.volume('v')).sizeBytes, 32 * MIB);
    await it.write('b', 8191);
    assert.equal(await it.content([4095, 4096, 8191]), 'a.b');
  });

  story('a full pool refuses writes, and takes them again when something was deleted', async (it) => {
    await it.volume('large', 'q', 256 * MIB);
    const fill = async (): Promise<void> => {
      for (let at = 0; at < 96; at += 1) await it.engine.writeVolume('large', at * MIB, Buffer.alloc(MIB, 'x'));
      await it.engine.flushVolume('large');
    };
    await it.refused(fill(), 'full');
    await it.engine.deleteVolume('large');
    await it.volume('next', 'q');
    await it.write('n', 0, 'next');
    assert.equal(await it.content([0], 'next'), 'n');
  });

  story('a report contains what changed since the given version', async (it) => {
    await it.volume('other');
    const first = await it.engine.report(0);
    assert.deepEqual(first.volumes.map(({ id }) => id).toSorted(), ['other', 'v']);
    await it.write('a', 0, 'other');
    const second = await it.engine.report(first.version);
    assert.deepEqual(
      second.volumes.map(({ id }) => id),
      ['other'],
    );
    assert.equal(second.volumes[0]?.io.writes.bytes, BLOCK);
  });

  story('held writes wait until they are released', async (it) => {
    await it.write('a', 0);
    await it.engine.holdWrites(['v'], 60_000);
    let isDone = false;
    const writing = it.write('b', 0).then(() => (isDone = true));
    await it.snapshot('s');
    assert.equal(isDone, false);
    await it.engine.releaseWrites(['v']);
    await writing;
    assert.equal(await it.letters('s', [0]), 'a');
    assert.equal(await it.content([0]), 'b');
  });
}

function testSnapshots(story: DefineStory): void {
  story('a snapshot shows its moment, whatever is written later', async (it) => {
    await it.write('a', 0);
    assert.deepEqual(await it.snapshot('s'), [16 * MIB]);
    assert.deepEqual(await it.snapshot('s'), [16 * MIB]);
    await it.write('b', 0);
    await it.write('c', 1);
    assert.equal(await it.letters('s', [0, 1]), 'a.');
    assert.equal(await it.content([0, 1]), 'bc');
  });

  story('a volume becomes its snapshot again, and a clone goes its own way', async (it) => {
    await it.write('a', 0);
    await it.snapshot('s');
    await it.write('b', 0);
    await it.engine.cloneSnapshot('s', 'clone');
    await it.engine.cloneSnapshot('s', 'clone');
    await it.write('c', 1, 'clone');
    await it.engine.revertVolume('s');
    assert.equal(await it.content([0, 1]), 'a.');
    assert.equal(await it.content([0, 1], 'clone'), 'ac');
    await it.engine.deleteVolume('v');
    assert.equal(await it.content([0, 1], 'clone'), 'ac');
  });

  story('a revert that is asked for again is done once, and what was written since stays', async (it) => {
    await it.write('a', 0);
    await it.snapshot('s');
    await it.write('b', 0);
    await it.snapshot('before');
    await it.engine.revertVolume('s', 'before');
    assert.equal(await it.content([0]), 'a');
    await it.write('c', 1);
    await it.engine.revertVolume('s', 'before');
    assert.equal(await it.content([0, 1]), 'ac');
    await it.snapshot('later');
    await it.engine.revertVolume('before', 'later');
    assert.equal(await it.content([0, 1]), 'b.');
  });

  story('changes between snapshots are listed in order, page by page', async (it) => {
    await it.write('a', 0);
    await it.snapshot('s1');
    await it.write('b', 1024);
    await it.write('c', 2048);
    await it.snapshot('s2');
    const reported: number[] = [];
    for (let after = 0; ;) {
      const [range] = await it.engine.changes('s1', 's2', after, 1);
      if (!range) break;
      assert.ok(range.offset >= after && range.length > 0);
      reported.push(range.offset);
      after = range.offset + range.length;
    }
    assert.ok(
      reported.some((offset) => offset <= 1024 * BLOCK) &&
        reported.every((offset, at) => offset >= (reported[at - 1] ?? 0)),
    );
    const whole = await it.engine.changes(undefined, 's1', 0, 100);
    assert.ok(whole.some(({ offset, mapped }) => offset === 0 && mapped));
  });
}

function testCopies(story: DefineStory): void {
  story('a volume moves to another pool with its snapshots', async (it) => {
    await it.write('a', 0);
    await it.snapshot('s');
    await it.write('b', 0);
    await it.engine.moveVolume('v', 'q', true, {});
    await it.engine.moveVolume('v', 'q', true, {});
    assert.equal((await it.engine.volume('v')).pool, 'q');
    assert.equal(await it.letters('s', [0]), 'a');
    assert.equal(await it.content([0]), 'b');
  });

  story('a server is put and removed as often as one likes', async (it) => {
    const unit = { lun: 0, volume: 'v', readOnly: false, wwid: '6'.padEnd(32, '0') };
    const server = { id: 's', initiator: 'iqn.2026-11.test:a', address: null, chap: null, mutualChap: null };
    for (let time = 0; time < 2; time += 1) {
      await it.engine.putServer({ ...server, isChapRequired: false, units: [unit] });
    }
    assert.deepEqual((await it.engine.report(0)).sessions, []);
    assert.equal(await it.engine.dropSessions('iqn.2026-11.test:a', 'nowhere'), 0);
    for (let time = 0; time < 2; time += 1) await it.engine.removeServer('s');
  });
}

function testShares(story: DefineStory): void {
  story('a share is formatted once, has quotas and figures, and goes with its volume', async (it) => {
    for (let time = 0; time < 2; time += 1) await it.engine.formatShare('v');
    await it.engine.putShare({
      volume: 'v',
      exportNames: ['data'],
      clients: [],
      sync: true,
      updatesAccessTimes: true,
      squash: 'root',
      anonymousUid: 65_534,
      anonymousGid: 65_534,
      readAheadBytes: 0,
      isAudited: false,
      snapshots: [],
    });
    const { share } = await it.engine.volume('v');
    assert.ok(share !== null && share.totalBytes > 0 && share.availableBytes <= share.totalBytes);
    await it.engine.setQuotas('v', [{ scope: 'user', id: 7, limitBytes: MIB }]);
    assert.equal((await it.engine.quota('v', 'user', 7)).limitBytes, MIB);
    await it.snapshot('s');
    assert.deepEqual(await it.engine.listFiles('s', 0, 10), []);
    await it.engine.removeShare('v');
    await it.engine.deleteVolume('v');
    await it.refused(it.engine.volume('v'), 'not-found');
  });
}
