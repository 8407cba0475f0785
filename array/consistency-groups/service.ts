import { fail } from '@granary/kernel';
import type { SnapshotService } from '../snapshots/service.ts';
import type { Volume } from '../volumes/volume.ts';
import { checkReady, checkUnmoved } from '../volumes/rules.ts';
import type { VolumeService } from '../volumes/service.ts';

/** New volumes that start as what another one holds, or held when a snapshot was taken. */
export class CloneService {
  readonly #volumes: VolumeService;
  readonly #snapshots: SnapshotService;

  constructor(volumes: VolumeService, snapshots: SnapshotService) {
    this.#volumes = volumes;
    this.#snapshots = snapshots;
  }

  clone(cgName: string, displayName: string, snapshot: string | undefined, actor: string): Promise<Volume> {
    const volume = this.#volumes.byGroup(cgName);
    checkReady(volume);
    checkUnmoved(volume);
    const wanted = snapshot ?? this.#lastReceived(volume);
    if (wanted === undefined) return this.#cloneNow(volume, displayName, actor);
    return this.#snapshots.using(wanted, ({ volume: of }) => {
      if (of !== volume.name) throw fail('snapshot_not_found', { id: wanted });
      return this.#volumes.createClone(displayName, volume, wanted, actor);
    });
  }

  /** The present data of a mirror's destination is what last came whole: what lies there may be half a round. */
  #lastReceived({ name, mirrorJob }: Volume): string | undefined {
    if (mirrorJob === null) return undefined;
    const { snapshots } = this.#snapshots.list({ volume: name, mirrorJob, start: 0, limit: 0 });
    const last = snapshots.at(-1);
    if (last) return last.name;
    throw fail('nothing_received', { id: name });
  }

  /** Through a snapshot that is never listed. */
  async #cloneNow(volume: Volume, displayName: string, actor: string): Promise<Volume> {
    const naming = { displayName: `Clone ${displayName}`, orSimilar: true, application: 'user' } as const;
    const snapshots = await this.#snapshots.begin([{ ...naming, volume }]);
    try {
      return await this.#volumes.createClone(displayName, volume, snapshots[0]?.name ?? '', actor);
    } finally {
      await this.#snapshots.drop(snapshots);
    }
  }
}
