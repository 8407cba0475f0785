import type { ArrayHandlers } from '../handlers.ts';
import { viewOfRaidGroup } from '../raid-groups/view.ts';
import type { PoolContents } from './service.ts';
import { binnedView } from './view.ts';

export function poolContentRoutes(contents: PoolContents) {
  return {
    listRaidGroups: ({ id, ...page }) => {
      const { found, count } = contents.raidGroups(id, page);
      return { raid_groups: found.map(viewOfRaidGroup), count };
    },
    listVolumes: ({ id, ...page }) => {
      const { found, count } = contents.volumes(id, page);
      return { volumes: found, count };
    },
    listDestinationVolumes: ({ id, ...page }) => {
      const { found, count } = contents.volumes(id, page, true);
      return { volumes: found, count };
    },
    listRecycleBin: ({ id, ...page }) => {
      const { found, count } = contents.recycleBin(id, page);
      return { volumes: found.map(binnedView), count };
    },
    performance: ({ id, interval }) => {
      const usages = contents.performance(id, interval);
      return { pool_name: id, usages, count: usages.length };
    },
  } satisfies ArrayHandlers<'pools'>;
}
