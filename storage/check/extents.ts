import { Allocator, GroupSpace } from '../pool/allocator.ts';
import { EXTENT_BYTES } from '../units.ts';
import { extentOf, HOLE, OPAQUE } from '../volume/extent-map.ts';
import type { CheckContext } from './check-context.ts';

export interface ExtentTotals {
  readonly total: number;
  readonly used: number;
  readonly free: number;
}

/** Every extent that a map or a container names lies in the pool and is named once. */
export async function checkExtents(check: CheckContext): Promise<ExtentTotals> {
  const allocator = await spacesOf(check);
  const doubles: Owner[] = [];
  for (const owner of owners(check)) {
    const space = allocator.find(owner.extent);
    if (!space) {
      await check.found(`${owner.name} names extent ${owner.extent}, which lies on no group`, owner.drop);
    } else if (!space.claim(owner.extent)) doubles.push(owner);
  }
  // Copies are made last, when the free extents are known.
  for (const owner of doubles) {
    await check.found(`${owner.name} names extent ${owner.extent}, which has an owner already`, () => {
      return moveToOwnExtent(check, allocator, owner);
    });
  }
  const { totalExtents: total, usedExtents: used } = allocator;
  const free = allocator.spaces.reduce((sum, space) => sum + space.free, 0);
  if (free + used !== total) await check.found(`${free} free and ${used} used extents do not make ${total}`);
  return { total, used, free };
}

interface Owner {
  readonly name: string;
  readonly extent: number;
  /** Makes the owner refer to another extent. */
  readonly move: (extent: number) => void;
  readonly drop: () => void;
}

async function spacesOf(check: CheckContext): Promise<Allocator> {
  const allocator = new Allocator('simple');
  const rows = check.database.all<{ id: string; first_extent: number; extent_count: number }>(
    'SELECT id, first_extent, extent_count FROM groups ORDER BY first_extent',
  );
  let end = 0;
  for (const { id, first_extent: first, extent_count: count } of rows) {
    if (first < end) await check.found(`RAID group ${id} has extents that are another's, too`);
    const group = check.groups.get(id);
    if (group && count * EXTENT_BYTES > group.capacityBytes) await check.found(`RAID group ${id} is too small`);
    if (!group) await check.found(`RAID group ${id} is not there`);
    allocator.add(new GroupSpace(id, first, count));
    end = first + count;
  }
  return allocator;
}

function* owners(check: CheckContext): Generator<Owner> {
  const { database } = check;
  const pages = database.all<{ layer: number; page: number }>(
    "SELECT layer, page FROM maps JOIN layers ON layers.id = maps.layer WHERE format = 'plain'",
  );
  for (const { layer, page } of pages) {
    const row = database.get<{ entries: Uint8Array }>(
      'SELECT entries FROM maps WHERE layer = ? AND page = ?',
      layer,
      page,
    );
    const entries = new Uint32Array(row?.entries.slice().buffer ?? new ArrayBuffer(0));
    for (const [slot, entry] of entries.entries()) {
      if (extentOf(entry) === 0) continue;
      const put = (value: number): void => {
        entries[slot] = value;
        const bytes = new Uint8Array(entries.buffer);
        check.change('UPDATE maps SET entries = ? WHERE layer = ? AND page = ?', bytes, layer, page);
      };
      const opaque = entry >= OPAQUE;
      yield {
        name: `Entry ${slot} of page ${page} of layer ${layer}`,
        extent: extentOf(entry),
        move: (extent) => put(opaque ? (extent | OPAQUE) >>> 0 : extent),
        drop: () => put(opaque ? OPAQUE : HOLE),
      };
    }
  }
  for (const { id, extent } of database.all<{ id: number; extent: number }>('SELECT id, extent FROM containers')) {
    yield {
      name: `Container ${id}`,
      extent,
      move: (other) => check.change('UPDATE containers SET extent = ? WHERE id = ?', other, id),
      drop: () => check.change('DELETE FROM containers WHERE id = ?', id),
    };
  }
}

/** It is unknown which owner wrote last: each gets a copy of the bytes as they are. */
async function moveToOwnExtent(check: CheckContext, allocator: Allocator, owner: Owner): Promise<void> {
  const target = allocator.allocate();
  if (target === undefined) throw new Error('There is no free extent to give the second owner its own copy');
  const bytes = Buffer.alloc(EXTENT_BYTES);
  const from = place(check, allocator, owner.extent);
  const to = place(check, allocator, target);
  await from.group.read(from.offset, bytes);
  await to.group.write(to.offset, bytes);
  await to.group.flush();
  owner.move(target);
}

function place(check: CheckContext, allocator: Allocator, extent: number) {
  const space = allocator.spaceOf(extent);
  const group = check.groups.get(space.groupId);
  if (!group) throw new Error(`RAID group ${space.groupId} is not there`);
  return { group, offset: (extent - space.firstExtent) * EXTENT_BYTES };
}
