import { StorageError } from '../../errors.ts';
import type { Drive } from '../../drive/drive.ts';
import type { GroupCore } from '../core.ts';
import type { Member } from './member.ts';
import { readSuperblock } from './superblock.ts';
import type { FoundSuperblock, Superblock } from './superblock.ts';

/**
 * Compares the superblock of every member with what the group wrote there last. A member that has none, or another, was
 * overwritten or replaced and is failed. Returns the drives that were failed but answer, so that they can be rebuilt in
 * place. When more members are wrong than the group can miss, none is failed: what they hold is checked block by block,
 * and their superblocks are written again.
 */
export async function failMismatches(core: GroupCore): Promise<Drive[]> {
  const { membership, layout } = core;
  await core.enter();
  const { sequence } = membership;
  const mismatches: { readonly member: Member; readonly reason: string }[] = [];
  for (const member of membership.writers) {
    const reason = await mismatchOf(core, member);
    if (reason !== undefined) mismatches.push({ member, reason });
  }
  // Superblocks were written meanwhile, so those that were read are outdated.
  if (mismatches.length === 0 || !core.isOpen() || membership.sequence !== sequence) return [];
  const missing = new Set(membership.members.filter(({ state }) => state !== 'active').map(({ slot }) => slot));
  for (const { member } of mismatches) missing.add(member.slot);
  if (missing.size > layout.redundancy) {
    await membership.change(() => undefined);
    return [];
  }
  for (const { member, reason } of mismatches) membership.fail(member, new StorageError('drive-failed', reason));
  await membership.whenRecorded();
  return mismatches.map(({ member }) => member.drive);
}

async function mismatchOf({ id, membership }: GroupCore, member: Member): Promise<string | undefined> {
  let found: FoundSuperblock | undefined;
  try {
    found = await readSuperblock(member.drive);
  } catch (error) {
    membership.fail(member, error);
    return undefined;
  }
  if (found === undefined) return `Drive ${member.drive.id} has no superblock any more; it is rebuilt`;
  const { groupId, uuid, events, sequence } = found.superblock;
  if (groupId !== id || uuid !== member.uuid) {
    return `Drive ${member.drive.id} has the superblock of another drive; it is rebuilt`;
  }
  if (events === membership.events && sequence === membership.sequence) return undefined;
  return `Drive ${member.drive.id} has an old superblock; it is rebuilt`;
}

/**
 * The superblocks to assemble a group from. Of two drives with the same identity one is a copy: the one that is not
 * recorded under that identity. A drive that missed two superblocks or more was rolled back.
 */
export function matchingSuperblocks(found: readonly FoundSuperblock[], right: Superblock): FoundSuperblock[] {
  const driveIds = new Map(right.members.map(({ uuid, driveId }) => [uuid, driveId]));
  const byUuid = Map.groupBy(found, ({ superblock }) => superblock.uuid);
  return [...byUuid].flatMap(([uuid, claimants]) => {
    const own = claimants.find(({ drive }) => drive.id === driveIds.get(uuid)) ?? claimants[0];
    return own === undefined || wasRolledBack(own.superblock, right) ? [] : [own];
  });
}

function wasRolledBack({ uuid, sequence }: Superblock, right: Superblock): boolean {
  const record = right.members.find((member) => member.uuid === uuid);
  return record !== undefined && record.state !== 'failed' && sequence < right.sequence - 1;
}
