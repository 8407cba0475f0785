import { type DriveLoss, readSuperblock, wipeSuperblocks } from '@granary/storage';
import type { OnEngineEvent } from '../engine.ts';
import type { EngineDrives, PlacedDrive } from './drives/drives.ts';
import type { EngineGroups } from './groups/groups.ts';

interface DriveWatchSetup {
  readonly drives: EngineDrives;
  readonly groups: EngineGroups;
  readonly onEvent: OnEngineEvent;
  /** Changes of what there is are made one after the other. */
  readonly inTurn: (work: () => Promise<void>) => Promise<void>;
}

/** A loss is noticed by the second look after it, so within 10 seconds. */
const WATCH_MS = 3000;

/**
 * Looks at what the paths of drives lead to. An open file can be written long after it was moved, deleted or replaced,
 * and nothing of that would be there after a restart; one that was blanked or cut short reads as if it were whole. A look
 * is one stat a drive, and the superblock where the file was written since the last look.
 */
export class EngineDriveWatch {
  readonly #setup: DriveWatchSetup;
  /** A look that hangs holds one of the few threads that do such work: it is not begun a second time. */
  readonly #inspecting = new Set<string>();
  /** When each file had been written, and whether its superblock did not fit then. */
  readonly #seen = new Map<string, { changedAt: bigint; isMisfit: boolean }>();
  #timer: NodeJS.Timeout | undefined;

  constructor(setup: DriveWatchSetup) {
    this.#setup = setup;
  }

  start(): void {
    this.#timer = setInterval(() => void this.inspect().catch(() => undefined), WATCH_MS).unref();
  }

  stop(): void {
    clearInterval(this.#timer);
  }

  async inspect(): Promise<void> {
    await Promise.all([...this.#setup.drives.all()].map((placed) => this.#inspectOne(placed)));
  }

  async #inspectOne(placed: PlacedDrive): Promise<void> {
    const { id } = placed.setup;
    const { file } = placed;
    if (!file || !isInUse(placed) || this.#inspecting.has(id)) return;
    this.#inspecting.add(id);
    try {
      const { loss, changedAt = 0n } = await file.inspect();
      const found = loss ?? (await this.#inspectContents(id, changedAt));
      if (found) await this.#setup.inTurn(() => this.#lose(placed, file, found));
    } finally {
      this.#inspecting.delete(id);
    }
  }

  /** A superblock that is just being written may not fit: it has to be so at two looks. */
  async #inspectContents(id: string, changedAt: bigint): Promise<DriveLoss | undefined> {
    const before = this.#seen.get(id);
    if (before?.changedAt === changedAt && !before.isMisfit) return undefined;
    const misfit = await this.#misfit(id);
    this.#seen.set(id, { changedAt, isMisfit: misfit !== undefined });
    return misfit !== undefined && before?.isMisfit === true ? { kind: 'damaged', reason: misfit } : undefined;
  }

  /** Of a drive that its group uses; one that cannot be read is the group's own business. */
  async #misfit(id: string): Promise<string | undefined> {
    const { drives, groups } = this.#setup;
    const group = groups.of(id);
    if (group?.uses(id) !== true) return undefined;
    const found = await readSuperblock(drives.get(id).drive).catch(() => 'unreadable' as const);
    if (found === 'unreadable' || groups.of(id) !== group) return undefined;
    if (!found) return 'its superblock is gone, it was blanked or written over; replace the drive';
    const { groupId, uuid, members, spares } = found.superblock;
    const successors = members.flatMap(({ successor }) => successor ?? []);
    const owner = [...members, ...successors, ...spares].find((each) => each.uuid === uuid);
    if (groupId === group.id && (owner === undefined || owner.driveId === id)) return undefined;
    return 'it holds what belongs to another drive; replace the drive';
  }

  async #lose(placed: PlacedDrive, file: PlacedDrive['file'], loss: DriveLoss): Promise<void> {
    const { drives, groups, onEvent } = this.#setup;
    const { id } = placed.setup;
    // It may have been removed, replaced or reopened meanwhile.
    if (drives.find(id) !== placed || placed.file !== file || !isInUse(placed)) return;
    this.#seen.delete(id);
    const group = groups.of(id);
    const isMember = group?.uses(id) === true && !(group.raid?.state().spares.includes(id) ?? false);
    // What was answered is on the file before it goes: it may be put back.
    if (group && isMember) await group.atRest(() => drives.lose(id, loss));
    else drives.lose(id, loss);
    await group?.notice();
    if (!isMember) onEvent({ type: 'drive-failed', drive: id, group: group?.id ?? null, reason: loss.reason });
    // What is left on it must not pass for a member at the next start; unless it is the last there is.
    if (loss.kind === 'damaged' && group && file && !group.hasFailed())
      await wipeSuperblocks(file).catch(() => undefined);
  }
}

function isInUse({ drive, isOffline, isBusy, loss }: PlacedDrive): boolean {
  return drive.isPlugged && !isOffline && !isBusy && loss === undefined;
}
