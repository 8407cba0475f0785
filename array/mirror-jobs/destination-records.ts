import { fail } from '@granary/kernel';
import type { PoolService } from '../pools/service.ts';
import type { SnapshotService } from '../snapshots/service.ts';
import type { ArrayTools } from '../tools.ts';
import type { VolumeService } from '../volumes/service.ts';
import { findDestination, updateDestination } from './repository.ts';
import type { DestinationMirror } from './mirror.ts';

export interface Neighbours {
  readonly pools: PoolService;
  readonly volumes: VolumeService;
  readonly snapshots: SnapshotService;
}

/** What stands on record of the mirrors whose destination is here, for those who make, fill and end them. */
export class DestinationRecords {
  readonly tools: ArrayTools;
  readonly neighbours: Neighbours;

  constructor(tools: ArrayTools, neighbours: Neighbours) {
    this.tools = tools;
    this.neighbours = neighbours;
  }

  get(name: string): DestinationMirror | undefined {
    return this.tools.store.read((db) => findDestination(db, name));
  }

  require(name: string): DestinationMirror {
    const mirror = this.get(name);
    if (!mirror) throw fail('job_not_found', { id: name });
    return mirror;
  }

  change(mirror: DestinationMirror, change: Partial<DestinationMirror>): Promise<void> {
    const { store, clock } = this.tools;
    return store.write((tx) => {
      updateDestination(tx, mirror.name, { ...change, modifiedAt: clock.now() });
    });
  }

  /** The volume reads as zeros, durably. */
  async empty(volume: string): Promise<void> {
    const { engine } = this.tools;
    await engine.discardVolume(volume, 0, this.neighbours.volumes.get(volume).sizeBytes);
    await engine.flushVolume(volume);
  }
}

export function volumeIn({ name, volume }: DestinationMirror): string {
  if (volume === null) throw fail('mirror_without_volume', { name });
  return volume;
}
