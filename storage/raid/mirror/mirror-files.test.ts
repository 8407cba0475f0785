import assert from 'node:assert/strict';
import { randomBytes } from 'node:crypto';
import { mkdtemp, open, readFile, rm, truncate } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, describe, it } from 'node:test';
import { FileDrive } from '../../drive/index.ts';
import { allocate, release } from '../../kernels/index.ts';
import { BLOCK_BYTES } from '../../units.ts';
import type { GroupEvent } from '../events.ts';
import { RaidGroup } from '../raid-group.ts';

const MIB = 1024 * 1024;
const PLACE = 3 * MIB;

interface Scene {
  readonly group: RaidGroup;
  readonly drives: readonly FileDrive[];
  readonly events: GroupEvent[];
  readonly data: Buffer;
  readonly into: Buffer;
}

/** Large requests to a mirror in files: two threads share them. */
describe('a mirror in files', () => {
  let folder: string;
  before(async () => (folder = await mkdtemp(join(tmpdir(), 'granary-mirror-'))));
  after(() => rm(folder, { recursive: true }));

  /** With 1 MiB written, and read once, so that both copies and their checksums are known. */
  async function withScene(name: string, members: number, use: (scene: Scene) => Promise<void>): Promise<void> {
    const ids = Array.from({ length: members }, (_, index) => `${name}-${index}`);
    const drives = await Promise.all(
      ids.map((id) => FileDrive.open({ id, path: join(folder, id), sizeBytes: 16 * MIB })),
    );
    const events: GroupEvent[] = [];
    const onEvent = (event: GroupEvent): void => void events.push(event);
    const group = await RaidGroup.create({ id: name, level: 'RAID1', members: drives, onEvent });
    const [data, into] = [allocate(MIB), allocate(MIB)];
    randomBytes(MIB).copy(data);
    for (let turn = 0; turn < 3; turn += 1) await group.write(PLACE, data);
    await use({ group, drives, events, data, into });
    await group.close();
    release(data);
    release(into);
  }

  const placeIn = async (drive: FileDrive, data: Buffer): Promise<number> => (await readFile(drive.path)).indexOf(data);

  for (const members of [2, 3]) {
    it(`of ${members} has the same bytes in each`, () =>
      withScene(`same-${members}`, members, async ({ group, drives, data, into }) => {
        await group.flush();
        for (const drive of drives) assert.ok((await placeIn(drive, data)) > 0, drive.id);
        await group.read(PLACE, into);
        assert.ok(into.equals(data));
        assert.deepEqual(await group.verify(), []);
      }));
  }

  for (const block of [0, 127, 200, 255]) {
    it(`mends block ${block} of a large read, whichever copy is damaged`, () =>
      withScene(`damaged-${block}`, 2, async ({ group, drives, events, data, into }) => {
        for (const drive of drives) {
          const file = await open(drive.path, 'r+');
          const at = (await placeIn(drive, data)) + block * BLOCK_BYTES;
          await file.write(randomBytes(16), 0, 16, at + 100);
          await file.close();
          for (let turn = 0; turn < 2; turn += 1) {
            await group.read(PLACE, into.fill(0));
            assert.ok(into.equals(data));
          }
          await group.scrub();
        }
        assert.deepEqual(await group.verify(), []);
        assert.ok(!events.some(({ type }) => type === 'drive-failed' || type === 'block-lost'));
      }));
  }

  it('reads on from the other when one ends early', () =>
    withScene('short', 2, async ({ group, drives, events, data, into }) => {
      const [first] = drives as [FileDrive];
      await truncate(first.path, (await placeIn(first, data)) + MIB / 2);
      for (let turn = 0; turn < 4; turn += 1) {
        await group.read(PLACE, into.fill(0));
        assert.ok(into.equals(data));
        await group.write(PLACE + 4 * MIB, data);
        await group.read(PLACE + 4 * MIB, into.fill(0));
        assert.ok(into.equals(data));
      }
      assert.ok(events.filter(({ type }) => type === 'drive-failed').length <= 1);
      assert.ok(!events.some(({ type }) => type === 'group-failed'));
    }));
});
