import { FaultyDrive } from '../../drive/faulty-drive.ts';
import { HeldDrive } from '../../drive/testing/held-drive.ts';
import type { Holder } from '../../drive/testing/held-drive.ts';
import { MemoryDrive } from '../../drive/testing/memory-drive.ts';
import type { Drive } from '../../drive/drive.ts';
import type { GroupEvent } from '../events.ts';
import type { GroupFormat, RaidLevel } from '../layout.ts';
import type { RuntimeOptions } from '../options.ts';
import { RaidGroup } from '../raid-group.ts';

const MEBIBYTE = 1024 * 1024;

export interface RigOptions extends RuntimeOptions {
  readonly level?: RaidLevel;
  readonly format?: GroupFormat;
  readonly members?: number;
  readonly stripeBytes?: number;
  readonly driveBytes?: number;
  readonly spares?: number;
  /** Makes the drives answer synchronously or later, at random. */
  readonly random?: () => number;
}

/** Drives in memory that can be broken, and the group on them. */
export class GroupRig {
  readonly options: RigOptions;
  readonly events: GroupEvent[] = [];
  drives: FaultyDrive[] = [];
  spares: FaultyDrive[] = [];
  group: RaidGroup;
  #made = 0;
  #holder: Holder = { isDead: false };
  readonly #held = new Map<FaultyDrive, HeldDrive>();

  private constructor(options: RigOptions) {
    this.options = options;
    this.group = undefined as unknown as RaidGroup;
  }

  static async create(options: RigOptions = {}): Promise<GroupRig> {
    const rig = new GroupRig(options);
    const { level = 'RAID1', stripeBytes, format } = options;
    const members = options.members ?? (level === 'RAID1' ? 2 : 5);
    rig.drives = Array.from({ length: members }, () => rig.newDrive());
    rig.spares = Array.from({ length: options.spares ?? 0 }, () => rig.newDrive());
    rig.group = await RaidGroup.create({
      id: 'group-1',
      level,
      members: rig.drives.map((drive) => rig.hold(drive)),
      spares: rig.spares.map((drive) => rig.hold(drive)),
      ...(stripeBytes !== undefined && { stripeBytes }),
      ...(format !== undefined && { format }),
      ...rig.runtime(),
    });
    return rig;
  }

  newDrive(): FaultyDrive {
    this.#made += 1;
    const bytes = this.options.driveBytes ?? 10 * MEBIBYTE;
    return new FaultyDrive(new MemoryDrive(`drive-${this.#made}`, bytes, this.options.random));
  }

  /** The drive for the current group: requests of an earlier group reach nothing. */
  hold(drive: FaultyDrive): Drive {
    const held = this.#held.get(drive) ?? new HeldDrive(drive, this.#holder);
    this.#held.set(drive, held);
    return held;
  }

  runtime(): RuntimeOptions {
    const { checksumCacheBytes, intentIdleMs, noSpaceRetryMs } = this.options;
    const speed = { minimumBytesPerSecond: 2 ** 40, maximumBytesPerSecond: 2 ** 40 };
    return {
      resyncSpeed: this.options.resyncSpeed ?? speed,
      onEvent: (event) => this.events.push(event),
      ...(checksumCacheBytes !== undefined && { checksumCacheBytes }),
      ...(intentIdleMs !== undefined && { intentIdleMs }),
      ...(noSpaceRetryMs !== undefined && { noSpaceRetryMs }),
    };
  }

  count(type: GroupEvent['type']): number {
    return this.events.filter((event) => event.type === type).length;
  }

  /** Opens the group again on the same drives, as after a crash of the process. */
  async reopen(drives: readonly FaultyDrive[] = [...this.drives, ...this.spares]): Promise<RaidGroup> {
    this.#holder.isDead = true;
    this.#holder = { isDead: false };
    this.#held.clear();
    this.group = await RaidGroup.open({ drives: drives.map((drive) => this.hold(drive)), ...this.runtime() });
    return this.group;
  }

  /** Cuts the power of all drives at once; a new drive holds what is left of each. */
  async powerCut(random: () => number): Promise<void> {
    const all = [...this.drives, ...this.spares];
    await Promise.all(all.map((drive) => drive.powerCut(random)));
    this.drives = this.drives.map((drive) => new FaultyDrive(drive.inner));
    this.spares = this.spares.map((drive) => new FaultyDrive(drive.inner));
  }
}
