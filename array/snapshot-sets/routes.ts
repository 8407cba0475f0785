import type { ArrayHandlers } from '../handlers.ts';
import type { SnapshotSetService } from './service.ts';

export function snapshotSetRoutes(service: SnapshotSetService): ArrayHandlers<'snapshotSets'> {
  return {
    suspend: ({ snapsetid, cg }, { actor }) => named(snapsetid, service.suspend(snapsetid, cg, actor.username)),
    createAndResume: ({ snapsetid }, { actor }) => named(snapsetid, service.takeAndResume(snapsetid, actor.username)),
    clone: ({ snapsetid }, { actor }) => named(snapsetid, service.clone(snapsetid, actor.username)),
    deleteClone: ({ snapsetid }, { actor }) => named(snapsetid, service.deleteClones(snapsetid, actor.username)),
    delete: ({ snapsetid }, { actor }) => named(snapsetid, service.delete(snapsetid, actor.username)),
    cancelSuspend: ({ snapsetid }, { actor }) => named(snapsetid, service.cancel(snapsetid, actor.username)),
  };
}

async function named(id: string, work: Promise<void>): Promise<{ snapshot_set_name: string }> {
  await work;
  return { snapshot_set_name: id };
}
