import { updateVolume, findVolumeOfMirror } from '../volumes/repository.ts';
import { type DestinationRecords, volumeIn } from './destination-records.ts';
import { releaseFromMirror } from '../snapshots/repository.ts';
import { removeDestination, updateDestination } from './repository.ts';
import type { DestinationMirror } from './mirror.ts';

/** How a mirror ends at its destination: broken, the volume is one like any other; deleted, it is gone. */
export class DestinationRemoval {
  readonly #records: DestinationRecords;

  constructor(records: DestinationRecords) {
    this.#records = records;
  }

  async break(mirror: DestinationMirror, inherited: boolean, actor: string): Promise<void> {
    if (mirror.state === 'broken') return;
    if (mirror.state === 'active') await this.#records.change(mirror, { state: 'breaking', inheritsWwid: inherited });
    await this.finishBreak(this.#records.require(mirror.name), actor);
  }

  /** Never anything between two snapshots: what was half received is undone. */
  async finishBreak(mirror: DestinationMirror, actor: string): Promise<void> {
    const { store, engine, clock, events } = this.#records.tools;
    const volume = volumeIn(mirror);
    if (mirror.round !== null && mirror.baseSnapshot !== null) await engine.revertVolume(mirror.baseSnapshot);
    else if (mirror.round !== null) await this.#records.empty(volume);
    const { volumes } = this.#records.neighbours;
    const isShare = volumes.get(volume).kind === 'file';
    // A share has a filesystem, if only an empty one.
    if (isShare && mirror.base === null) await engine.formatShare(volume);
    await store.write((tx) => {
      const now = clock.now();
      updateVolume(tx, volume, {
        mirrorJob: null,
        ...(mirror.inheritsWwid && { wwid: mirror.sourceWwid }),
        modifiedAt: now,
      });
      releaseFromMirror(tx, mirror.name);
      updateDestination(tx, mirror.name, { state: 'broken', round: null, position: 0, modifiedAt: now });
      const held =
        mirror.base === null
          ? 'It is empty: no snapshot had come whole'
          : `It is as its snapshot ${mirror.baseSnapshot ?? ''} shows it`;
      const what = `a ${isShare ? 'share' : 'volume'} like any other`;
      const title = `Mirror ${mirror.displayName} (${mirror.name}) was broken; ${mirror.volumeName} (${volume}) is ${what}. ${held}.`;
      events.record(tx, { severity: 'notice', title, subject: `mirror_job:${mirror.name}`, actor });
    });
    if (isShare) await volumes.shares.attempt(volume);
  }

  async delete(mirror: DestinationMirror): Promise<void> {
    const { store, clock } = this.#records.tools;
    const volume = mirror.volume ?? store.read((db) => findVolumeOfMirror(db, mirror.name));
    if (volume !== undefined) {
      await store.write((tx) => {
        releaseFromMirror(tx, mirror.name);
        updateVolume(tx, volume, { mirrorJob: null, modifiedAt: clock.now() });
        updateDestination(tx, mirror.name, { volume });
      });
      await this.#records.neighbours.volumes
        .delete(volume, { force: true, skipBin: true }, 'system')
        .catch((error: unknown) => {
          this.#records.tools.log.warn(
            { error, volume },
            'the destination of an abandoned mirror could not be deleted',
          );
        });
    }
    await store.write((tx) => {
      removeDestination(tx, mirror.name);
    });
  }
}
