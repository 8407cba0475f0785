import { WHOLE } from '@granary/kernel';
import type { Drive } from '../drives/drive.ts';
import type { ArrayDriveService } from '../drives/service.ts';
import type { PoolService } from '../pools/service.ts';
import type { RaidGroupBuilding } from '../raid-groups/building.ts';
import type { RaidGroupService } from '../raid-groups/service.ts';
import type { ArrayTools } from '../tools.ts';
import { mirroredPairs } from './pairs.ts';

interface Parts {
  readonly drives: ArrayDriveService;
  readonly building: RaidGroupBuilding;
  readonly groups: RaidGroupService;
  readonly pools: PoolService;
}

const ACTOR = 'system';
const PLAIN_GROUP = { protection: 'RAID1', stripe_size: 64, hot_spare: false, force: false } as const;
const PLAIN_POOL = { cache: true, cowCache: true, mode: 'stripe', type: 'Repository Storage' } as const;

/** The pools an array is ordered with: for each type of drive one that is striped over mirrored pairs. */
export class FirstPools {
  readonly #tools: ArrayTools;
  readonly #parts: Parts;

  constructor(tools: ArrayTools, parts: Parts) {
    this.#tools = tools;
    this.#parts = parts;
  }

  /**
   * If they were ordered. Goes on where a crash cut it off: pairs that are there already are used. An array that cannot make them is there all
   * the same, and says so.
   */
  async create(): Promise<void> {
    const { store, events, log, configuration } = this.#tools;
    if (!configuration().raid10Pools) return;
    const types = new Set(configuration().drives.map(({ type }) => type));
    try {
      for (const type of types) await this.#createOf(type);
    } catch (error) {
      log.error({ error }, 'the pools an array was ordered with could not be made');
      const reason = error instanceof Error ? error.message : String(error);
      const title = `The pools of mirrored pairs that were ordered could not be made: ${reason} Make them of the drives that are free.`;
      await store.write((tx) => events.record(tx, { severity: 'error', title, subject: 'pools' }));
    }
  }

  async #createOf(type: string): Promise<void> {
    const { drives, building, pools } = this.#parts;
    const isOfType = ({ placed }: Drive) => placed.type === type;
    const free = drives.listFree(WHOLE).drives.filter(isOfType);
    for (const pair of mirroredPairs(free)) {
      const disk = pair.map(({ record }) => record.name);
      await building.create({ ...PLAIN_GROUP, display_name: `mirror ${disk.map(numberOf).join('+')}`, disk }, ACTOR);
    }
    const groups = this.#withoutPool().filter((name) => this.#drivesOf(name).every(isOfType));
    if (groups.length === 0) return;
    await pools.create({ ...PLAIN_POOL, displayName: `${type} mirrored`, groups }, ACTOR);
  }

  #withoutPool(): string[] {
    const { groups } = this.#parts.groups.list(WHOLE);
    return groups.filter(({ group }) => group.pool === null).map(({ group }) => group.name);
  }

  #drivesOf(group: string): readonly Drive[] {
    return this.#parts.groups.listDrives(group, WHOLE).drives;
  }
}

/** `volume-00000003` → `3`, as consoles number drives. */
function numberOf(drive: string): string {
  return /[1-9]\d*$/.exec(drive)?.[0] ?? drive;
}
