import type { ArrayHandlers } from '../handlers.ts';
import type { DriveOutages } from './outages.ts';
import type { DriveReplacement } from './replacement.ts';
import type { ArrayDriveService } from './service.ts';
import type { DriveShredding } from './shredding.ts';
import { viewOfDrive } from './view.ts';

interface DriveServices {
  readonly drives: ArrayDriveService;
  readonly shredding: DriveShredding;
  readonly replacing: DriveReplacement;
  readonly outages: DriveOutages;
}

export function driveRoutes(services: DriveServices): ArrayHandlers<'drives'> {
  const { drives, shredding, replacing, outages } = services;
  return {
    list: (page) => pageOf(drives.list(page)),
    get: ({ id }) => ({ disk: viewOfDrive(drives.get(id)) }),
    listFree: (page) => pageOf(drives.listFree(page)),
    rename: async ({ id, newname }, { actor }) => named(await drives.rename(id, newname, actor.username)),
    remove: async ({ id }, { actor }) => named(await drives.remove(id, actor.username)),
    replace: async (input, { actor }) => named(await replacing.start(input, actor.username)),
    shred: async (input, { actor }) => named(await shredding.start(input, actor.username)),
    cancelShred: async ({ id }, { actor }) => named(await shredding.cancel(id, actor.username)),
    takeOffline: async ({ id, force }, { actor }) => named(await outages.takeOffline(id, force, actor.username)),
    bringOnline: async ({ id }, { actor }) => named(await outages.bringOnline(id, actor.username)),
    performance: ({ id, interval }) => {
      const usages = drives.points(id, interval);
      return { disk_name: id, usages, count: usages.length };
    },
  };
}

function pageOf({ drives, count }: ReturnType<ArrayDriveService['list']>) {
  return { disks: drives.map(viewOfDrive), count };
}

function named(name: string) {
  return { disk_name: name };
}
