import { BLOCK_BYTES } from '../units.ts';
import { NEVER_WRITTEN } from './checksums/checksum-page.ts';
import type { GroupCore } from './core.ts';
import type { Layout } from './layout.ts';
import type { Member, MemberPage } from './members/member.ts';

/** Smaller runs are not worth a call. */
const RUN_ROWS_MIN = (64 * 1024) / BLOCK_BYTES;

/**
 * Deallocates discarded blocks on the drives. A block whose checksum says "never written" reads as zeros whatever the
 * drive holds, so its place needs no bytes. That must hold after a power cut as well: a page that is not durable as it
 * is in memory is skipped.
 */
export async function trimBlocks(core: GroupCore, block: number, count: number): Promise<void> {
  const { row: first, end } = rowsOf(core.layout, block, count);
  for (let row = first; row < end;) {
    const next = Math.min(end, core.rowsOf(core.regionOf(row)).end);
    const range = await core.begin(row, next - row, false);
    try {
      for (const member of core.membership.writers) await trimRows(core, member, row, next);
    } finally {
      core.end(range);
    }
    row = next;
  }
}

/** All rows of the stripes that contain the blocks. */
function rowsOf({ level, dataMembers, stripeBytes }: Layout, block: number, count: number) {
  if (level === 'RAID1') return { row: block, end: block + count };
  const chunkRows = stripeBytes / BLOCK_BYTES;
  const stripeOf = (each: number) => Math.floor(each / (dataMembers * chunkRows));
  return { row: stripeOf(block) * chunkRows, end: (stripeOf(block + count - 1) + 1) * chunkRows };
}

async function trimRows(core: GroupCore, member: Member, row: number, end: number): Promise<void> {
  const { layout, checksums } = core;
  const region = core.regionOf(row);
  if (!member.holdsRegion(region)) return;
  const page = await checksums.fetch(member, region);
  if (page === undefined || !isDurable(page)) return;
  const shift = region * layout.regionRows;
  for (const run of runsOfUnwritten(page.entries, row - shift, end - shift)) {
    const offset = layout.dataOffset + (shift + run.first) * BLOCK_BYTES;
    // Best effort: a drive that fails here is detected by the next read or write.
    await member.drive.discard(offset, run.count * BLOCK_BYTES).catch(() => undefined);
  }
}

function isDurable({ isDirty, writing, generations, member }: MemberPage): boolean {
  return !isDirty && writing === undefined && member.isAlive && generations?.isDurable !== false;
}

function* runsOfUnwritten(entries: Uint32Array, first: number, end: number) {
  for (let index = first; index < end; index += 1) {
    if (entries[index] !== NEVER_WRITTEN) continue;
    const start = index;
    while (index < end && entries[index] === NEVER_WRITTEN) index += 1;
    if (index - start >= RUN_ROWS_MIN) yield { first: start, count: index - start };
  }
}
