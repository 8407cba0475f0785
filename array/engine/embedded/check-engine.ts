import { copyFileSync, existsSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { checkPool, EXTENT_BYTES, RaidGroup, readSuperblock } from '@granary/storage';
import type { CheckedGroup, CheckedPool, EngineCheck } from '../check.ts';
import { type GroupRecord, type PoolRecord, readCatalogue } from './engine-catalogue.ts';
import { checkShares } from './check-shares.ts';
import { OverlayDrive } from './drives/overlay-drive.ts';
import { poolFile } from './pools.ts';
import { reasonOf } from './refused.ts';
import type { EngineDriveSetup } from './setup.ts';

/** Whether a volume holds a filesystem that is to be checked. */
type IsShare = (volume: string) => boolean;

/** Nothing is put in order behind the back of who looks. */
const STILL = { minimumBytesPerSecond: 1, maximumBytesPerSecond: 1 };

/**
 * Looks at everything a stopped engine keeps in a folder and on its drives, and changes nothing: drives are read
 * through an overlay, and metadata is copied before it is opened.
 */
export async function checkEngine(
  folder: string,
  drives: readonly EngineDriveSetup[],
  isShare: IsShare = () => false,
): Promise<EngineCheck> {
  const check = new Checking(folder, drives, isShare);
  try {
    return await check.run();
  } finally {
    await check.close();
  }
}

class Checking {
  readonly #folder: string;
  readonly #isShare: IsShare;
  readonly #setups: readonly EngineDriveSetup[];
  readonly #copies = mkdtempSync(join(tmpdir(), 'granary-check-'));
  readonly #drives: OverlayDrive[] = [];
  readonly #raids = new Map<string, RaidGroup>();
  readonly #findings: string[] = [];

  constructor(folder: string, setups: readonly EngineDriveSetup[], isShare: IsShare) {
    this.#folder = folder;
    this.#isShare = isShare;
    this.#setups = setups;
  }

  async run(): Promise<EngineCheck> {
    const catalogue = readCatalogue(this.#folder);
    this.#openDrives();
    const groups: CheckedGroup[] = [];
    for (const record of catalogue.groups) {
      if (record.state === 'ready') groups.push(await this.#checkGroup(record));
      else this.#found(`RAID group ${record.id} is half made or half deleted; the next start ends that`);
    }
    const pools: CheckedPool[] = [];
    for (const record of catalogue.pools) {
      if (record.state === 'ready') pools.push(await this.#checkPool(record));
      else this.#found(`Pool ${record.id} is half made or half deleted; the next start ends that`);
    }
    await this.#checkUnused(pools);
    return { findings: this.#findings, groups, pools };
  }

  async close(): Promise<void> {
    for (const raid of this.#raids.values()) await raid.close();
    for (const drive of this.#drives) drive.shut();
    rmSync(this.#copies, { recursive: true });
  }

  #openDrives(): void {
    for (const setup of this.#setups) {
      try {
        this.#drives.push(new OverlayDrive(setup));
      } catch (error) {
        this.#found(`Drive ${setup.id} cannot be opened: ${reasonOf(error)}`);
      }
    }
  }

  async #checkGroup(record: GroupRecord): Promise<CheckedGroup> {
    const { id, capacityBytes, members, spares, events } = record;
    const drives: OverlayDrive[] = [];
    for (const drive of this.#drives) {
      const found = await readSuperblock(drive).catch(() => undefined);
      if (found?.superblock.groupId === id) drives.push(drive);
    }
    const checked = { id, capacityBytes, members, spares };
    try {
      const raid = await RaidGroup.open({
        id,
        drives,
        minimumEvents: events,
        resyncSpeed: STILL,
        rebuildsInPlace: false,
      });
      const { status } = raid.state();
      if (status !== 'failed') this.#raids.set(id, raid);
      // After a crash a group brings its copies in line by itself: nothing is wrong with that.
      if (status !== 'normal' && status !== 'recovering') this.#found(`RAID group ${id} is ${status}`);
      return { ...checked, state: status };
    } catch (error) {
      this.#found(`RAID group ${id} cannot be opened: ${reasonOf(error)}`);
      return { ...checked, state: 'failed' };
    }
  }

  async #checkPool(record: PoolRecord): Promise<CheckedPool> {
    const { id, mode, groups: names, capacityBytes } = record;
    const groups = names.flatMap((name) => this.#raids.get(name) ?? []);
    try {
      const file = this.#copyBooks(id);
      const report = await checkPool({ file, groups });
      for (const { what } of report.findings) this.#found(`Pool ${id}: ${what}`);
      if (report.contents.some((volume) => this.#isShare(volume.id))) {
        for (const what of await checkShares(file, groups, this.#isShare)) this.#found(what);
      }
      const usedBytes = report.extents.used * EXTENT_BYTES;
      if (usedBytes > capacityBytes) this.#found(`Pool ${id} uses ${usedBytes} bytes, more than its ${capacityBytes}`);
      return { id, mode, groups: names, capacityBytes, usedBytes, volumes: report.contents };
    } catch (error) {
      this.#found(`Pool ${id} cannot be checked: ${reasonOf(error)}`);
      return { id, mode, groups: names, capacityBytes, usedBytes: 0, volumes: [] };
    }
  }

  /** Groups of no pool were not looked at with one. */
  async #checkUnused(pools: readonly CheckedPool[]): Promise<void> {
    const used = new Set(pools.flatMap(({ groups }) => groups));
    for (const [id, raid] of this.#raids) {
      if (used.has(id)) continue;
      for (const { message } of await raid.verify()) this.#found(`RAID group ${id}: ${message}`);
    }
  }

  #copyBooks(id: string): string {
    const copy = join(this.#copies, `${id}.db`);
    for (const ending of ['', '-wal']) {
      const file = poolFile(this.#folder, id) + ending;
      if (existsSync(file)) copyFileSync(file, copy + ending);
    }
    return copy;
  }

  #found(what: string): void {
    this.#findings.push(`${what}.`);
  }
}
