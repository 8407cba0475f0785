import type { FindGroup } from './drives/group.ts';
import { insertClone, neededAgain } from './file-lifecycle/archive/repository.ts';
import { removeRulesOfShare } from './file-lifecycle/policies/repository.ts';
import { removeScannedShare } from './file-lifecycle/scans/repository.ts';
import { isMigrationTarget } from './migration-jobs/repository.ts';
import { countMirrorsTo, dropPendingMessages, isMirrorSource } from './mirror-jobs/repository.ts';
import type { VolumesInPool } from './pools/volumes-in-pool.ts';
import { copyProjects } from './quotas/repository.ts';
import { findRaidGroup } from './raid-groups/repository.ts';
import { mayMiss } from './raid-groups/shape.ts';
import type { MirrorsToArray } from './remote-arrays/service.ts';
import { hasNfsClients, listNfsClients, listSharesOfServer, serversHaving } from './servers/attachment-repository.ts';
import type { VolumeKeys } from './settings/encryption.ts';
import type { ShareReaders } from './shares/readers.ts';
import { removeRulesOf } from './snapshot-policies/repository.ts';
import type { RestoreDependents } from './snapshots/restore.ts';
import { countSnapshots, listShownSnapshots, removeSnapshotsOf } from './snapshots/repository.ts';
import { checkDeletable } from './volumes/deletion.ts';
import type { VolumeDependents } from './volumes/dependents.ts';
import {
  countVolumesOfPool,
  deleteVolume,
  findVolume,
  isServableShare,
  listServableShares,
  listVolumesOfPool,
  listWrappedKeys,
  sumSizes,
  updateVolume,
} from './volumes/repository.ts';
import { titleOf } from './volumes/rules.ts';

// Folders import each other in one direction. Where a resource needs records of one that imports it, it declares an
// interface, and that is implemented here with the functions of the repository that owns the table.

export const findDriveGroup: FindGroup = (db, name) => {
  const group = findRaidGroup(db, name);
  return group && { ...group, toleratedFailures: mayMiss(group) };
};

export const volumeDependents: VolumeDependents = {
  listAttachedServers: serversHaving,
  hasNfsClients,
  countSnapshots,
  isMirrorSource,
  copyToClone(tx, source, clone) {
    copyProjects(tx, source, clone);
    insertClone(tx, clone, source);
  },
  detachSnapshotPolicies: removeRulesOf,
  removeAllOf(tx, volume) {
    removeSnapshotsOf(tx, volume);
    removeRulesOf(tx, volume);
    removeRulesOfShare(tx, volume);
    removeScannedShare(tx, volume);
  },
};

export const restoreDependents: RestoreDependents = {
  listAttachedServers: serversHaving,
  restored: neededAgain,
};

export const volumesInPool: VolumesInPool = {
  sumSizes,
  count: countVolumesOfPool,
  listShares: (db, pool) => listVolumesOfPool(db, pool).flatMap(({ name, kind }) => (kind === 'file' ? [name] : [])),
  isMigrationTarget,
  checkAllDeletable(tx, pool) {
    for (const volume of listVolumesOfPool(tx, pool))
      if (volume.state === 'ready') checkDeletable(tx, volume, true, volumeDependents);
  },
  removeAll(tx, pool) {
    const names = listVolumesOfPool(tx, pool).map(({ name }) => name);
    for (const name of names) deleteVolume(tx, name, volumeDependents);
    return names;
  },
};

export const shareReaders: ShareReaders = {
  titleOf(db, volume) {
    const found = findVolume(db, volume);
    return found && titleOf(found);
  },
  listServable: listServableShares,
  isServable: isServableShare,
  listNfsClients,
  listOfServer: listSharesOfServer,
  listSnapshots: listShownSnapshots,
};

export const volumeKeys: VolumeKeys = {
  list: listWrappedKeys,
  replace: (tx, volume, wrappedKey) => updateVolume(tx, volume, { wrappedKey }),
};

export const mirrorsToArray: MirrorsToArray = { count: countMirrorsTo, dropPending: dropPendingMessages };
