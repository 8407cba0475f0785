import { BLOCK_BYTES } from '../../units.ts';
import { ChecksumPage, UNKNOWN } from './checksum-page.ts';
import { decodePage, latestGenerations, ownerOf, ROWS_PER_SECTOR } from './checksum-page-format.ts';
import type { ReadPage } from './checksum-page-format.ts';
import { stepsBehind } from './generations.ts';
import type { RegionGenerations } from './generations.ts';
import type { Layout } from '../layout.ts';
import type { Member, MemberPage } from '../members/member.ts';

const NO_OWNER = Buffer.alloc(0);

interface RawPage {
  readonly member: Member;
  readonly content: Buffer;
}

export interface ClassifyOptions {
  readonly groupId: string;
  readonly layout: Layout;
  readonly region: number;
  /** Members may differ in this region since a crash. */
  readonly isUnsynced: boolean;
  /** The write-intent log records that the region has checksums on the drives. */
  readonly isWritten: boolean;
  /** The region's generations in memory; if there are none, they start from those that the pages record. */
  readonly generationsOf: (onRecord: Uint32Array) => RegionGenerations;
}

export interface ClassifiedPages {
  readonly pages: readonly MemberPage[];
  /** Members that hold the region and had at least one sector of checksums rejected. */
  readonly rejected: readonly Member[];
}

/** Accepts the sectors of pages that are consistent with each other; the checksums of other sectors become unknown. */
export function classifyPages(raw: readonly RawPage[], options: ClassifyOptions): ClassifiedPages {
  const { groupId, layout, region, isUnsynced, isWritten } = options;
  const slots = layout.memberCount;
  const read = raw.map(({ member, content }) => {
    const owner = ownerOf(groupId, member.uuid, region);
    return { member, owner, content: decodePage(content, owner, slots), isHolder: member.holdsRegion(region) };
  });
  // A member that is still being filled does not hold the group's data there.
  const holders = read.filter(({ isHolder }) => isHolder).map(({ content }) => content);
  const generations = options.generationsOf(latestGenerations(holders, slots));
  const isBlanked = isWritten && !isUnsynced && generations.latest.every((generation) => generation === 0);
  const pages: MemberPage[] = [];
  const rejected: Member[] = [];
  for (const { member, owner, content, isHolder } of read) {
    const page = new ChecksumPage(member, region, new Uint32Array(layout.regionRows), owner, generations);
    const stepsAllowed = isUnsynced || !generations.isSlotDurable(member.slot) ? 1 : 0;
    const areAllAccepted = acceptSectors(page, content, isBlanked ? -1 : stepsAllowed);
    if (isHolder && !areAllAccepted) rejected.push(member);
    pages.push(page);
  }
  return { pages, rejected };
}

/** False when a sector is damaged, has another owner, or is further behind than allowed. */
function acceptSectors(page: MemberPage, { sectors }: ReadPage, stepsAllowed: number): boolean {
  const { member, generations } = page;
  let areAllAccepted = true;
  page.generation = generations?.latest[member.slot] ?? 0;
  for (const [index, sector] of sectors.entries()) {
    const generation = sector.generations?.[member.slot];
    const steps = generation === undefined ? Infinity : Math.max(0, stepsBehind(generation, page.generation));
    const first = index * ROWS_PER_SECTOR;
    if (steps > stepsAllowed) {
      areAllAccepted = false;
      page.entries.fill(UNKNOWN, first, first + ROWS_PER_SECTOR);
      continue;
    }
    page.entries.set(sector.entries, first);
    if (steps > 0) page.behind.add(index);
  }
  if (page.behind.size > 0) {
    // Writes keep using this generation until the whole page has it.
    generations?.fallBehind(member.slot);
    page.isDirty = true;
  }
  return areAllAccepted;
}

export function pageOfFormat1(member: Member, region: number, content: Buffer): MemberPage {
  const entries = new Uint32Array(content.buffer, content.byteOffset, BLOCK_BYTES / 4);
  return new ChecksumPage(member, region, entries, NO_OWNER);
}

/** The rows of the region whose checksums differ between drive and memory. */
export function differingRows(page: MemberPage, found: Buffer): number[] {
  const entries = new Uint32Array(found.buffer, found.byteOffset, BLOCK_BYTES / 4);
  const rows: number[] = [];
  const read = page.generations && decodePage(found, page.owner, page.generations.latest.length);
  for (let row = 0; row < page.entries.length; row += 1) {
    const sector = read?.sectors[Math.floor(row / ROWS_PER_SECTOR)];
    const entry = sector === undefined ? entries[row] : sector.entries[row % ROWS_PER_SECTOR];
    const isCurrent = sector === undefined || sector.generations?.[page.member.slot] === page.generation;
    if (entry !== page.entries[row] || !isCurrent) rows.push(row);
  }
  return rows;
}
