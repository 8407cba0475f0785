import { setImmediate as nextTurn } from 'node:timers/promises';
import type { FoundRecord } from '@granary/contract';
import { bestNamed, WHOLE, type Db, type Named, type Store } from '@granary/kernel';
import type { ArrayDriveService } from '../drives/service.ts';
import type { MirrorService } from '../mirror-jobs/service.ts';
import type { PoolService } from '../pools/service.ts';
import type { RaidGroupService } from '../raid-groups/service.ts';
import { listRemoteArrays } from '../remote-arrays/repository.ts';
import { searchServers } from '../servers/repository.ts';
import { searchExportNames } from '../shares/repository.ts';
import { listPolicies } from '../snapshot-policies/repository.ts';
import { searchSnapshots } from '../snapshots/repository.ts';
import type { ArrayUserService } from '../users/service.ts';
import { findVolume, searchVolumes } from '../volumes/repository.ts';

interface Searched {
  readonly pools: PoolService;
  readonly raidGroups: RaidGroupService;
  readonly drives: ArrayDriveService;
  readonly mirrors: MirrorService;
  readonly users: ArrayUserService;
}

/**
 * Finds by name whatever an array has; every user may list all of it. What there may be thousands of (volumes, snapshots,
 * servers, shares) is found by a statement, the rest in memory.
 */
export class SearchService {
  readonly #store: Store;
  readonly #searched: Searched;

  constructor({ store }: { readonly store: Store }, searched: Searched) {
    this.#store = store;
    this.#searched = searched;
  }

  /** Each statement may read a hundred thousand names, so other work has its turn between two. */
  async find(text: string, limit: number): Promise<FoundRecord[]> {
    const found: Named[] = [];
    for (const search of STATEMENTS) {
      found.push(...this.#store.read((db) => [...search(db, text, limit)]));
      await nextTurn();
    }
    return bestNamed([...found, ...this.#hardware(), ...this.#people()], text, limit);
  }

  *#hardware(): Generator<Named> {
    const { pools, raidGroups, drives } = this.#searched;
    for (const { pool } of pools.list(WHOLE).pools)
      yield { kind: 'pools', id: pool.name, name: pool.displayName, detail: 'Pool', also: [pool.name] };
    for (const { group } of raidGroups.list(WHOLE).groups) {
      const detail = `RAID group · ${group.protection}`;
      yield { kind: 'raid-groups', id: group.name, name: group.displayName, detail, also: [group.name] };
    }
    for (const { record, placed } of drives.list(WHOLE).drives) {
      const detail = `Drive · ${placed.capacityGb} GiB ${placed.medium.toUpperCase()}`;
      yield { kind: 'drives', id: record.name, name: record.displayName, detail, also: [record.name, record.uuid] };
    }
  }

  *#people(): Generator<Named> {
    const { mirrors, users } = this.#searched;
    for (const { name, displayName, role } of mirrors.standings()) {
      const detail = role === 'source' ? 'Mirror from here' : 'Mirror to here';
      yield { kind: 'mirrors', id: name, name: displayName, detail, also: [name] };
    }
    for (const { id, username, email } of users.list(WHOLE).users)
      yield { kind: 'users', id: String(id), name: username, detail: 'User', also: [email] };
  }
}

function* volumes(db: Db, text: string, limit: number): Generator<Named> {
  const listed = new Set<string>();
  for (const { name, displayName, kind } of searchVolumes(db, text, limit)) {
    listed.add(name);
    yield { kind: 'volumes', id: name, name: displayName, detail: kind === 'file' ? 'Share' : 'Volume', also: [name] };
  }
  for (const { volume, name } of searchExportNames(db, text, limit)) {
    const share = listed.has(volume) ? undefined : findVolume(db, volume);
    if (share?.state !== 'ready') continue;
    listed.add(volume);
    yield { kind: 'volumes', id: volume, name: share.displayName, detail: 'Share', also: [name] };
  }
}

function* snapshots(db: Db, text: string, limit: number): Generator<Named> {
  for (const { name, displayName, volumeDisplayName } of searchSnapshots(db, text, limit))
    yield { kind: 'snapshots', id: name, name: displayName, detail: `Snapshot of ${volumeDisplayName}`, also: [name] };
}

function* others(db: Db, text: string, limit: number): Generator<Named> {
  for (const { name, displayName, iqn, address } of searchServers(db, text, limit))
    yield { kind: 'servers', id: name, name: displayName, detail: 'Server', also: [iqn, address, name] };
  for (const { name, displayName, schedule } of listPolicies(db, WHOLE).policies)
    yield { kind: 'policies', id: name, name: displayName, detail: `Snapshot policy · ${schedule}`, also: [name] };
  for (const { name, displayName } of listRemoteArrays(db, 0, 0))
    yield { kind: 'remote-arrays', id: name, name: displayName, detail: 'Remote array', also: [name] };
}

const STATEMENTS = [volumes, snapshots, others] as const;
