import { fail, type Tx } from '@granary/kernel';
import type { Snapshot } from '../snapshots/snapshot.ts';
import type { SnapshotService } from '../snapshots/service.ts';
import type { ArrayTools } from '../tools.ts';
import { serversHaving } from '../servers/attachment-repository.ts';
import { isNameTaken } from '../volumes/repository.ts';
import type { Volume } from '../volumes/volume.ts';
import { checkReady, checkUnmoved } from '../volumes/rules.ts';
import type { VolumeService } from '../volumes/service.ts';
import { countSets, insertMember, insertSet, isSet, listMembers, rememberClone, removeSet } from './repository.ts';
import type { SetMember } from './member.ts';
import { Suspensions } from './suspensions.ts';

interface Neighbours {
  readonly volumes: VolumeService;
  readonly snapshots: SnapshotService;
  /** How long a set may hold writes back. */
  readonly suspendSeconds: () => number;
}

const SETS_MAX = 10_000;
const NAME_LENGTH_MAX = 128;
const SIMILAR_MAX = 100;

/** Snapshots of several volumes at one moment, between which no write of their servers falls. */
export class SnapshotSetService {
  readonly #tools: ArrayTools;
  readonly #volumes: VolumeService;
  readonly #snapshots: SnapshotService;
  readonly #suspendSeconds: () => number;
  readonly #suspensions: Suspensions;

  constructor(tools: ArrayTools, { volumes, snapshots, suspendSeconds }: Neighbours) {
    this.#tools = tools;
    this.#volumes = volumes;
    this.#snapshots = snapshots;
    this.#suspendSeconds = suspendSeconds;
    this.#suspensions = new Suspensions(tools);
  }

  async suspend(id: string, groups: readonly string[], actor: string): Promise<void> {
    const volumes = [...new Set(groups)].map((group) => this.#volumes.byGroup(group));
    for (const volume of volumes) {
      checkReady(volume);
      checkUnmoved(volume);
    }
    if (this.#suspensions.has(id) || this.#tools.store.read((db) => isSet(db, id))) {
      throw fail('name_taken', { name: id });
    }
    const seconds = this.#suspendSeconds();
    const names = volumes.map(({ name }) => name);
    await this.#suspensions.hold(id, names, seconds * 1000);
    await this.#record(id, `holds writes to ${names.join(', ')} back for at most ${seconds} seconds`, actor);
  }

  async takeAndResume(id: string, actor: string): Promise<void> {
    const { untilMs, volumes } = this.#claimSuspension(id);
    try {
      const snapshots = await this.#snapshots.begin(
        volumes.map((name) => ({
          volume: this.#volumes.get(name),
          displayName: id,
          orSimilar: true,
          application: 'shadow_copy',
        })),
      );
      await this.#recordSet(id, snapshots, untilMs, actor);
    } finally {
      await this.#suspensions.release(id);
    }
  }

  async cancel(id: string, actor: string): Promise<void> {
    const { volumes } = this.#claimSuspension(id);
    await this.#suspensions.release(id);
    await this.#record(id, `was cancelled; writes to ${volumes.join(', ')} go on`, actor);
  }

  /** A new volume of each snapshot. Those made before one failed are deleted again. */
  async clone(id: string, actor: string): Promise<void> {
    const members = this.#membersOf(id);
    if (members.some(({ clone }) => clone !== null)) {
      throw fail('snapshot_set_has_clones', { id });
    }
    const sources = members.flatMap(({ volume, snapshot }) => (snapshot === null ? [] : [{ volume, snapshot }]));
    if (sources.length === 0) throw fail('snapshot_set_empty', { id });
    const made: string[] = [];
    try {
      for (const { volume, snapshot } of sources) made.push(await this.#cloneOne(id, volume, snapshot, actor));
    } catch (error) {
      for (const name of made) await this.#volumes.delete(name, { force: true, skipBin: true }, actor);
      throw error;
    }
    await this.#record(id, `was cloned to ${made.join(', ')}`, actor);
  }

  async deleteClones(id: string, actor: string): Promise<void> {
    const clones = this.#membersOf(id).flatMap(({ clone }) => (clone === null ? [] : [clone]));
    if (clones.length === 0) throw fail('nothing_to_delete');
    for (const name of clones) {
      const servers = this.#tools.store.read((db) => serversHaving(db, name));
      if (servers.length > 0) throw fail('volume_attached', { id: name, servers: servers.join(', '), instead: '' });
    }
    for (const name of clones) await this.#volumes.delete(name, { force: false, skipBin: true }, actor);
    await this.#record(id, `lost its clones ${clones.join(', ')}`, actor);
  }

  /** With its snapshots; clones of them stay. */
  async delete(id: string, actor: string): Promise<void> {
    const snapshots = this.#membersOf(id).flatMap(({ snapshot }) => (snapshot === null ? [] : [snapshot]));
    for (const name of snapshots) this.#snapshots.refuseNeeded(this.#snapshots.get(name));
    await this.#snapshots.delete(snapshots, actor);
    await this.#record(id, 'was deleted', actor, (tx) => removeSet(tx, id));
  }

  stop(): void {
    this.#suspensions.stop();
  }

  /** The volumes whose writes are held back for a set that is not taken yet. */
  suspendedVolumes(id: string): readonly string[] {
    return this.#suspensions.volumesOf(id);
  }

  #claimSuspension(id: string) {
    const suspension = this.#suspensions.claim(id);
    if (suspension) return suspension;
    if (this.#suspensions.has(id)) throw fail('snapshot_set_being_taken', { id });
    if (this.#suspensions.isExpired(id)) throw letGo(id);
    if (this.#tools.store.read((db) => isSet(db, id))) {
      throw fail('snapshot_set_taken', { id });
    }
    throw fail('snapshot_set_not_found', { id });
  }

  async #recordSet(id: string, snapshots: readonly Snapshot[], untilMs: number, actor: string): Promise<void> {
    const { clock } = this.#tools;
    try {
      // The engine may have let go before it took them.
      if (clock.now() >= untilMs) throw letGo(id);
      await this.#snapshots.show(snapshots, actor, (tx) => {
        if (countSets(tx) >= SETS_MAX) {
          throw fail('snapshot_sets_limit', { max: SETS_MAX });
        }
        insertSet(tx, id, clock.now());
        for (const { volume, name } of snapshots) insertMember(tx, id, volume, name);
        this.#recordEvent(tx, id, `was taken of ${snapshots.map(({ volume }) => volume).join(', ')}`, actor);
      });
    } catch (error) {
      await this.#snapshots.drop(snapshots);
      throw error;
    }
  }

  async #cloneOne(id: string, volumeName: string, snapshotName: string, actor: string): Promise<string> {
    const clone = await this.#snapshots.using(snapshotName, () => {
      const source = this.#volumes.get(volumeName);
      checkReady(source);
      checkUnmoved(source);
      const name = this.#cloneName(source, id);
      return this.#volumes.createClone(name, source, snapshotName, actor, (tx, made) => {
        rememberClone(tx, id, volumeName, made);
      });
    });
    return clone.name;
  }

  #cloneName({ displayName }: Volume, id: string): string {
    for (let n = 1; n <= SIMILAR_MAX; n += 1) {
      const ending = n === 1 ? `-${id}` : `-${id}-${n}`;
      const name = `${displayName.slice(0, Math.max(1, NAME_LENGTH_MAX - ending.length))}${ending}`.slice(
        0,
        NAME_LENGTH_MAX,
      );
      if (!this.#tools.store.read((db) => isNameTaken(db, name))) return name;
    }
    throw fail('name_taken', { name: `${displayName}-${id}` });
  }

  #membersOf(id: string): SetMember[] {
    return this.#tools.store.read((db) => {
      if (isSet(db, id)) return listMembers(db, id);
      if (!this.#suspensions.has(id)) throw fail('snapshot_set_not_found', { id });
      throw fail('snapshot_set_not_taken', { id });
    });
  }

  #record(id: string, what: string, actor: string, alongside?: (tx: Tx) => void): Promise<void> {
    return this.#tools.store.write((tx) => {
      alongside?.(tx);
      this.#recordEvent(tx, id, what, actor);
    });
  }

  #recordEvent(tx: Tx, id: string, what: string, actor: string): void {
    this.#tools.events.record(tx, { title: `Snapshot set ${id} ${what}.`, subject: `snapshot_set:${id}`, actor });
  }
}

function letGo(id: string) {
  return fail('snapshot_set_too_late', { id });
}
