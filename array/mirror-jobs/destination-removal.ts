import { updateVolume, findVolumeOfMirror } from '../volumes/repository.ts';
import { type DestinationRecords, volumeIn } from './destination-records.ts';
import { releaseSnapshots, removeDestination, updateDestination } from './repository.ts';
import type { DestinationMirror } from './mirror.ts';

/** How a mirror ends at its destination: broken, the volume is one like any other; deleted, it is gone. */
export class DestinationRemoval {
  readonly #records: DestinationRecords;

  constructor(records: DestinationRecords) {
    this.#records = records;
  }

  async break(row: DestinationMirror, inherited: boolean, actor: string): Promise<void> {
    if (row.state === 'broken') return;
    if (row.state === 'active') await this.#records.change(row, { state: 'breaking', inheritsWwid: inherited });
    await this.finishBreak(this.#records.require(row.name), actor);
  }

  /** Never anything between two snapshots: what was half received is undone. */
  async finishBreak(row: DestinationMirror, actor: string): Promise<void> {
    const { store, engine, clock, events } = this.#records.tools;
    const volume = volumeIn(row);
    if (row.round !== null && row.baseSnapshot !== null) await engine.revertVolume(row.baseSnapshot);
    else if (row.round !== null) await this.#records.empty(volume);
    const { volumes } = this.#records.neighbours;
    const isShare = volumes.get(volume).kind === 'file';
    // A share has a filesystem, if only an empty one.
    if (isShare && row.base === null) await engine.formatShare(volume);
    await store.write((tx) => {
      const now = clock.now();
      updateVolume(tx, volume, {
        mirrorJob: null,
        ...(row.inheritsWwid && { wwid: row.sourceWwid }),
        modifiedAt: now,
      });
      releaseSnapshots(tx, row.name);
      updateDestination(tx, row.name, { state: 'broken', round: null, position: 0, modifiedAt: now });
      const held =
        row.base === null
          ? 'It is empty: no snapshot had come whole'
          : `It is as its snapshot ${row.baseSnapshot ?? ''} shows it`;
      const what = `a ${isShare ? 'share' : 'volume'} like any other`;
      const title = `Mirror ${row.displayName} (${row.name}) was broken; ${row.volumeName} (${volume}) is ${what}. ${held}.`;
      events.record(tx, { severity: 'notice', title, subject: `mirror_job:${row.name}`, actor });
    });
    if (isShare) await volumes.shares.attempt(volume);
  }

  async delete(row: DestinationMirror): Promise<void> {
    const { store, clock } = this.#records.tools;
    const volume = row.volume ?? store.read((db) => findVolumeOfMirror(db, row.name));
    if (volume !== undefined) {
      await store.write((tx) => {
        releaseSnapshots(tx, row.name);
        updateVolume(tx, volume, { mirrorJob: null, modifiedAt: clock.now() });
        updateDestination(tx, row.name, { volume });
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
      removeDestination(tx, row.name);
    });
  }
}
