import type { Jobs } from '@granary/kernel';
import type { ArrayHandlers } from '../handlers.ts';
import { answerWhenDone } from '../waiting.ts';
import { momentOf } from './dates.ts';
import type { SnapshotListing } from './listing.ts';
import type { SnapshotRestore } from './restore.ts';
import type { SnapshotInPlace } from './snapshot.ts';
import type { SnapshotService } from './service.ts';
import { viewOf } from './view.ts';

export function snapshotRoutes(service: SnapshotService, listing: SnapshotListing): ArrayHandlers<'snapshots'> {
  return {
    list: (page) => pageOf(listing.list(page)),
    listOfGroup: ({ volume_cg_id, start, limit, application, jobname, snapshot_policy, start_date, end_date }) =>
      pageOf(
        listing.listOfGroup(volume_cg_id, {
          start,
          limit,
          application,
          mirrorJob: jobname,
          policy: snapshot_policy,
          from: momentOf('start_date', start_date),
          before: momentOf('end_date', end_date),
        }),
      ),
    get: ({ id }) => ({ snapshot: viewOf(listing.get(id)) }),
    create: async ({ volume_cg_id, display_name }, { actor }) => ({
      snapshot_name: await service.create(volume_cg_id, display_name, actor.username),
    }),
    rename: async ({ id, newname }, { actor }) => {
      listing.refuseWorking(id);
      await service.rename(id, newname, actor.username);
      return { snapshot_name: id };
    },
    delete: async ({ snapshot_id }, { actor }) => {
      listing.refuseWorking(snapshot_id);
      await service.remove(snapshot_id, actor.username);
      return { snapshot_name: snapshot_id };
    },
  };
}

/** One of our own among the volumes: the specification has none. */
export function restoreRoutes(restores: SnapshotRestore, jobs: Jobs): Pick<ArrayHandlers<'volumes'>, 'restore'> {
  return {
    restore: async ({ id, snapshot, force, timeout }, { actor }) => {
      const { job, safety } = await restores.start(id, { snapshot, isForced: force }, actor.username);
      return answerWhenDone(jobs, job, timeout, () => ({ vol_name: id, snapshot_name: safety }));
    },
  };
}

function pageOf({ snapshots, count }: { snapshots: readonly SnapshotInPlace[]; count: number }) {
  return { snapshots: snapshots.map(viewOf), count };
}
