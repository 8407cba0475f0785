import { viewOfDrive } from '../drives/view.ts';
import type { ArrayHandlers } from '../handlers.ts';
import type { RaidGroupBuilding } from './building.ts';
import type { RaidGroupScrubbing } from './scrubbing.ts';
import type { RaidGroupService } from './service.ts';
import type { HotSpares } from './spares.ts';
import { viewOfRaidGroup } from './view.ts';

interface RaidGroupServices {
  readonly groups: RaidGroupService;
  readonly building: RaidGroupBuilding;
  readonly scrubbing: RaidGroupScrubbing;
  readonly spares: HotSpares;
}

export function raidGroupRoutes(services: RaidGroupServices): ArrayHandlers<'raidGroups'> {
  const { groups, building, scrubbing, spares } = services;
  return {
    list: (page) => pageOf(groups.list(page)),
    get: ({ id }) => ({ raid_group: viewOfRaidGroup(groups.show(id)) }),
    listFree: (page) => pageOf(groups.listFree(page)),
    create: async (input, { actor }) => named(await building.create(input, actor.username)),
    delete: async ({ id }, { actor }) => named(await building.delete(id, actor.username)),
    listDrives: ({ id, ...page }) => {
      const { drives, count } = groups.listDrives(id, page);
      return { disks: drives.map(viewOfDrive), count };
    },
    rename: async ({ id, newname }, { actor }) => named(await groups.rename(id, newname, actor.username)),
    setResyncSpeed: async ({ id, min, max }, { actor }) =>
      named(await groups.setResyncSpeed(id, min, max, actor.username)),
    scrub: async ({ id }, { actor }) => named(await scrubbing.start(id, actor.username)),
    pauseScrub: async ({ id }, { actor }) => named(await scrubbing.pause(id, actor.username)),
    addHotSpare: async ({ id, disk, force }, { actor }) => named(await spares.add(id, disk, force, actor.username)),
    removeHotSpare: async ({ id }, { actor }) => named(await spares.remove(id, actor.username)),
    performance: ({ id, interval }) => {
      const usages = groups.points(id, interval);
      return { raid_group_name: id, usages, count: usages.length };
    },
  };
}

function pageOf({ groups, count }: ReturnType<RaidGroupService['list']>) {
  return { raid_groups: groups.map(viewOfRaidGroup), count };
}

function named(name: string) {
  return { raidgroup_name: name };
}
