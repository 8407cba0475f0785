import type { CreatedKind } from '@granary/contract/array';
import type { Db } from '@granary/kernel';
import { listMigratedVolumes } from '../migration-jobs/repository.ts';
import { findDestination, findSource } from '../mirror-jobs/repository.ts';
import { findServer } from '../servers/repository.ts';
import { findPolicy, findRule, listVolumesOfPolicy } from '../snapshot-policies/repository.ts';
import { listSetVolumes } from '../snapshot-sets/repository.ts';
import { findVolumeOfSnapshot } from '../snapshots/repository.ts';
import { creatorsOfGroup, creatorsOfVolumes, findAnyVolume } from '../volumes/repository.ts';

/** The user who created a resource; null is the administrators. */
type Creator = number | null;

/** From the name of a resource to its creator, or to the creators of the volumes it belongs to. */
const CREATORS: Readonly<Record<CreatedKind, (db: Db, name: string) => Creator[]>> = {
  volume: (db, name) => recorded(findAnyVolume(db, name)),
  consistency_group: creatorsOfGroup,
  snapshot: (db, name) => ofVolumes(db, [findVolumeOfSnapshot(db, name)]),
  // It says how many snapshots are kept of every volume it is attached to.
  snapshot_policy: (db, name) => [...recorded(findPolicy(db, name)), ...ofVolumes(db, listVolumesOfPolicy(db, name))],
  snapshot_rule: (db, name) => ofVolumes(db, [findRule(db, name)?.volume]),
  snapshot_set: (db, name) =>
    listSetVolumes(db, name).flatMap(({ volume, clone }) => [
      ...ofVolumes(db, [volume]),
      ...recorded(clone === null ? undefined : findAnyVolume(db, clone)),
    ]),
  migration: (db, name) => ofVolumes(db, listMigratedVolumes(db, name)),
  mirror_job: (db, name) => [
    ...ofVolumes(db, [findSource(db, name)?.volume]),
    ...(findDestination(db, name) ? [null] : []),
  ],
  server: (db, name) => recorded(findServer(db, name)),
};

/** Of each resource the name leads to. Empty where there is none of that name. */
export function creatorsOf(db: Db, kind: CreatedKind, name: string): Creator[] {
  return CREATORS[kind](db, name);
}

function recorded(found: { readonly createdBy: Creator } | undefined): Creator[] {
  return found ? [found.createdBy] : [];
}

/** What belongs to a volume that was deleted is the administrators'. One statement, however many volumes a policy has. */
function ofVolumes(db: Db, volumes: readonly (string | undefined)[]): Creator[] {
  const names = volumes.filter((volume) => volume !== undefined);
  return names.length === 0 ? [] : creatorsOfVolumes(db, names);
}
