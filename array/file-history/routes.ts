import type { Jobs } from '@granary/kernel';
import type { ArrayHandlers } from '../handlers.ts';
import { viewOf } from '../snapshots/view.ts';
import { answerWhenDone } from '../waiting.ts';
import type { FileHistoryService } from './service.ts';
import { restoreView } from './view.ts';

export function fileHistoryRoutes(history: FileHistoryService, jobs: Jobs): ArrayHandlers<'fileHistory'> {
  return {
    restore: async ({ id, snapshot, path, to_path: toPath, timeout }, { actor }) => {
      const restore = await history.restore(id, { snapshot, path, toPath }, actor.username);
      return answerWhenDone(jobs, restore.job, timeout, () => ({
        restore_name: restore.name,
        to_path: restore.toPath,
      }));
    },
    listRestores: ({ id, ...page }) => {
      const { restores, count } = history.listRestores(id, page);
      return {
        file_restores: restores.map((restore) => restoreView(restore, (one) => history.progressOf(one))),
        count,
      };
    },
  };
}

/** The two that the specification has among the volumes. */
export function fileHistoryVolumeRoutes(
  history: FileHistoryService,
): Pick<ArrayHandlers<'volumes'>, 'listFileHistory' | 'deleteFileHistory'> {
  return {
    listFileHistory: ({ id, ...page }) => {
      const { snapshots, count } = history.list(id, page);
      return { file_histories: snapshots.map(viewOf), count };
    },
    deleteFileHistory: async ({ volume_id }, { actor }) => {
      await history.delete(volume_id, actor.username);
      return { vol_name: volume_id };
    },
  };
}
